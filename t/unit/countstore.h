/* SPDX-License-Identifier: MIT */
/*
 * A store for unit tests that passes requests on to another store, and counts
 * the requests. A test can make the counting store unavailable.
 */
#ifndef T_UNIT_COUNTSTORE_H
#define T_UNIT_COUNTSTORE_H

#include <stdatomic.h>

#include "store/filestore.h"

struct countstore {
	struct filestore store;
	struct filestore *inner; /* owned */
	atomic_uint requests, reads;
	atomic_bool is_down;
	/* Called before each read; NULL: nothing is called. */
	void (*before_read)(void *ctx, const char *name);
	void *ctx;
};

static inline int countstore_ask(struct countstore *c, struct error *err)
{
	c->requests++;
	return c->is_down ? (error_set(err, ERR_IO, "the store is down"),
			     STORE_UNAVAILABLE)
			  : 0;
}

static inline int countstore_read(struct filestore *store,
				  struct filestore_info *info,
				  const struct filestore_sink *sink,
				  const char *name, uint64_t off, uint64_t len,
				  struct error *err)
{
	struct countstore *c = (struct countstore *)store;
	int ret;

	c->reads++;
	if (c->before_read)
		c->before_read(c->ctx, name);
	ret = countstore_ask(c, err);
	return ret ? ret
		   : filestore_read(c->inner, info, sink, name, off, len, err);
}

static inline int countstore_head(struct filestore *store,
				  struct filestore_info *info, const char *name,
				  struct error *err)
{
	struct countstore *c = (struct countstore *)store;
	int ret = countstore_ask(c, err);

	return ret ? ret : filestore_head(c->inner, info, name, err);
}

static inline int countstore_put(struct filestore *store, char *etag,
				 const char *name, const void *bytes,
				 size_t len,
				 const struct filestore_condition *condition,
				 struct error *err)
{
	struct countstore *c = (struct countstore *)store;
	int ret = countstore_ask(c, err);

	return ret ? ret
		   : filestore_put(c->inner, etag, name, bytes, len, condition,
				   err);
}

static inline int countstore_list(struct filestore *store,
				  struct filestore_page *page,
				  const char *prefix, size_t limit,
				  struct error *err)
{
	struct countstore *c = (struct countstore *)store;
	int ret = countstore_ask(c, err);

	return ret ? ret : filestore_list(c->inner, page, prefix, limit, err);
}

static inline int countstore_delete(struct filestore *store, const char *name,
				    struct error *err)
{
	struct countstore *c = (struct countstore *)store;
	int ret = countstore_ask(c, err);

	return ret ? ret : filestore_delete(c->inner, name, err);
}

static inline int countstore_presign(struct filestore *store, struct buf *url,
				     const char *name, unsigned seconds,
				     struct error *err)
{
	struct countstore *c = (struct countstore *)store;

	return filestore_presign(c->inner, url, name, seconds, err);
}

static inline void countstore_close(struct filestore *store)
{
	struct countstore *c = (struct countstore *)store;

	filestore_close(c->inner);
}

/*
 * Makes a store that passes requests on to the store `inner`. filestore_close()
 * of the new store also closes `inner`. `c` must remain in memory until the new
 * store is closed.
 */
static inline struct filestore *countstore_init(struct countstore *c,
						struct filestore *inner)
{
	static const struct filestore_ops ops = {
		.read = countstore_read,
		.head = countstore_head,
		.put = countstore_put,
		.list = countstore_list,
		.delete = countstore_delete,
		.presign = countstore_presign,
		.close = countstore_close,
	};

	*c = (struct countstore){.store = {&ops}, .inner = inner};
	return &c->store;
}

#endif
