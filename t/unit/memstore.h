/* SPDX-License-Identifier: MIT */
/*
 * A store of files (struct filestore) in memory for tests, with a clock that
 * the test sets. A callback of the test decides for each request whether it
 * succeeds, fails or gets no response.
 */
#ifndef MEMSTORE_H
#define MEMSTORE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/filestore.h"

enum memstore_op {
	MEMSTORE_READ,
	MEMSTORE_HEAD,
	MEMSTORE_PUT,
	MEMSTORE_LIST,
	MEMSTORE_DELETE,
};

/* The ways in which a request can end. */
enum memstore_fate {
	MEMSTORE_NORMAL,
	/* The request takes effect, but the caller gets no response. */
	MEMSTORE_LOST,
	MEMSTORE_NOTHING, /* no effect, and no answer */
	/*
	 * The caller gets no response. The request takes effect later, when the
	 * test calls memstore_land().
	 */
	MEMSTORE_LATE,
	/* A conditional put is executed twice, as if a proxy repeated it. */
	MEMSTORE_REPEATED,
	/* The request fails with STORE_UNAVAILABLE. */
	MEMSTORE_DOWN,
	MEMSTORE_ERROR, /* fails with ERR_DENIED */
};

struct memstore_file {
	char *name; /* owned */
	char *bytes;
	size_t len;
	int64_t mtime;
	unsigned version; /* serves as the entity tag */
};

struct memstore {
	struct filestore store;
	struct memstore_file *files; /* owned, sorted by name */
	size_t nr, alloc;
	/*
	 * Puts that have not taken effect yet (MEMSTORE_LATE). Their mtime is
	 * not used.
	 */
	struct memstore_file *late;
	/*
	 * Indexed like `late`. True: the put was conditional (STORE_CREATE) and
	 * takes effect only if no file has its name.
	 */
	bool *late_creates;
	size_t late_nr, late_alloc, late_creates_alloc;
	int64_t clock;
	unsigned version;
	unsigned requests;
	pthread_mutex_t lock; /* guards everything above */
	/*
	 * Callback that decides what happens to a request. It is called without
	 * holding `lock`. NULL: all requests succeed.
	 */
	enum memstore_fate (*fate)(void *ctx, enum memstore_op op,
				   const char *name);
	/* Called after a file was written or deleted, while `lock` is held. */
	void (*changed)(void *ctx, enum memstore_op op, const char *name);
	void *ctx;
};

static inline void memstore_check(bool ok)
{
	if (!ok)
		abort();
}

/*
 * Returns the index of the file `name` in s->files. If there is no such file,
 * returns the index at which it would be inserted.
 */
static inline size_t memstore_at(const struct memstore *s, const char *name)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (strcmp(s->files[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static inline struct memstore_file *memstore_find(struct memstore *s,
						  const char *name)
{
	size_t at = memstore_at(s, name);

	return at < s->nr && !strcmp(s->files[at].name, name) ? &s->files[at]
							      : NULL;
}

static inline void memstore_write(struct memstore *s, const char *name,
				  const void *bytes, size_t len)
{
	struct memstore_file *f = memstore_find(s, name);

	if (!f) {
		size_t at = memstore_at(s, name);

		memstore_check(mem_grow(&s->files, &s->alloc, s->nr + 1,
					sizeof(*s->files)) == 0);
		f = &s->files[at];
		memmove(f + 1, f, (s->nr++ - at) * sizeof(*f));
		f->name = mem_strdup(name);
	} else {
		free(f->bytes);
	}
	f->bytes = mem_strndup(bytes, len);
	memstore_check(f->name && f->bytes);
	f->len = len;
	f->mtime = s->clock;
	f->version = ++s->version;
	if (s->changed)
		s->changed(s->ctx, MEMSTORE_PUT, name);
}

static inline void memstore_remove(struct memstore *s, const char *name)
{
	struct memstore_file *f = memstore_find(s, name);

	if (!f)
		return;
	if (s->changed)
		s->changed(s->ctx, MEMSTORE_DELETE, name);
	free(f->name);
	free(f->bytes);
	memmove(f, f + 1, (size_t)(&s->files[--s->nr] - f) * sizeof(*f));
}

/* Lets the oldest pending put (MEMSTORE_LATE) take effect. */
static inline void memstore_land(struct memstore *s)
{
	struct memstore_file late = s->late[0];
	bool creates = s->late_creates[0];

	s->late_nr--;
	memmove(s->late, s->late + 1, s->late_nr * sizeof(*s->late));
	memmove(s->late_creates, s->late_creates + 1, s->late_nr);
	if (!creates || !memstore_find(s, late.name))
		memstore_write(s, late.name, late.bytes, late.len);
	free(late.name);
	free(late.bytes);
}

/* Drops all pending puts (MEMSTORE_LATE), which then never take effect. */
static inline void memstore_drop_late(struct memstore *s)
{
	for (size_t i = 0; i < s->late_nr; i++) {
		free(s->late[i].name);
		free(s->late[i].bytes);
	}
	s->late_nr = 0;
}

static inline void memstore_add_late(struct memstore *s, const char *name,
				     const void *bytes, size_t len,
				     bool creates)
{
	struct memstore_file late = {mem_strdup(name), mem_strndup(bytes, len),
				     len, 0, 0};

	memstore_check(late.name && late.bytes &&
		       !mem_grow(&s->late, &s->late_alloc, s->late_nr + 1,
				 sizeof(*s->late)) &&
		       !mem_grow(&s->late_creates, &s->late_creates_alloc,
				 s->late_nr + 1, sizeof(*s->late_creates)));
	s->late[s->late_nr] = late;
	s->late_creates[s->late_nr++] = creates;
}

/* ---- the functions of struct filestore */

static inline struct memstore *memstore_of(struct filestore *store)
{
	return (struct memstore *)store;
}

static inline enum memstore_fate memstore_ask(struct memstore *s,
					      enum memstore_op op,
					      const char *name,
					      struct error *err)
{
	enum memstore_fate fate = s->fate ? s->fate(s->ctx, op, name)
					  : MEMSTORE_NORMAL;

	pthread_mutex_lock(&s->lock);
	s->requests++;
	if (fate != MEMSTORE_NORMAL)
		error_set(err, fate == MEMSTORE_ERROR ? ERR_DENIED : ERR_PEER,
			  "simulated fault");
	return fate;
}

static inline void memstore_info(struct filestore_info *info,
				 const struct memstore_file *f)
{
	info->size = f->len;
	info->mtime = f->mtime;
	snprintf(info->etag, sizeof(info->etag), "\"%u\"", f->version);
}

static inline int memstore_refusal(enum memstore_fate fate)
{
	if (fate == MEMSTORE_NORMAL)
		return 0;
	return fate == MEMSTORE_ERROR ? (int)ERR_DENIED
				      : (int)STORE_UNAVAILABLE;
}

static inline int memstore_read(struct filestore *store,
				struct filestore_info *info,
				const struct filestore_sink *sink,
				const char *name, uint64_t off, uint64_t len,
				struct error *err)
{
	struct memstore *s = memstore_of(store);
	int ret = memstore_refusal(memstore_ask(s, MEMSTORE_READ, name, err));
	struct memstore_file *f = ret ? NULL : memstore_find(s, name);
	char *copy = f ? mem_strndup(f->bytes, f->len) : NULL;
	size_t size = f ? f->len : 0;

	if (!ret && !f)
		ret = STORE_ABSENT;
	if (!ret && info)
		memstore_info(info, f);
	pthread_mutex_unlock(&s->lock);
	if (!ret && (off > size || (len != STORE_TO_END && len > size - off)))
		ret = error_set(err, ERR_INVALID, "the range is not there");
	if (len == STORE_TO_END)
		len = size - off;
	if (!ret)
		ret = sink->write(sink->ctx, copy + off, (size_t)len, err);
	free(copy);
	return ret;
}

static inline int memstore_head(struct filestore *store,
				struct filestore_info *info, const char *name,
				struct error *err)
{
	struct memstore *s = memstore_of(store);
	int ret = memstore_refusal(memstore_ask(s, MEMSTORE_HEAD, name, err));
	struct memstore_file *f = ret ? NULL : memstore_find(s, name);

	if (f) {
		memstore_info(info, f);
		info->now = s->clock;
	} else if (!ret) {
		ret = STORE_ABSENT;
	}
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static inline bool memstore_may_write(
	struct memstore *s, const char *name,
	const struct filestore_condition *condition)
{
	struct memstore_file *f = memstore_find(s, name);
	struct filestore_info info;

	if (f)
		memstore_info(&info, f);
	return condition->kind == STORE_ALWAYS ||
	       (condition->kind == STORE_CREATE && !f) ||
	       (condition->kind == STORE_REPLACE && f &&
		!strcmp(info.etag, condition->etag));
}

static inline int memstore_put(struct filestore *store, char *etag,
			       const char *name, const void *bytes, size_t len,
			       const struct filestore_condition *condition,
			       struct error *err)
{
	struct memstore *s = memstore_of(store);
	enum memstore_fate fate = memstore_ask(s, MEMSTORE_PUT, name, err);
	bool creates = condition->kind == STORE_CREATE;
	bool refused = !memstore_may_write(s, name, condition);
	int ret = refused ? STORE_CONFLICT : 0;

	/*
	 * The list of delayed puts (MEMSTORE_LATE) does not record entity tags.
	 * A put with STORE_REPLACE needs its entity tag when it takes effect,
	 * so tests must not delay such a put.
	 */
	memstore_check(condition->kind != STORE_REPLACE ||
		       fate != MEMSTORE_LATE);
	if (fate == MEMSTORE_DOWN || fate == MEMSTORE_ERROR) {
		ret = memstore_refusal(fate);
	} else if (fate == MEMSTORE_NOTHING || fate == MEMSTORE_LATE) {
		ret = STORE_AMBIGUOUS;
		if (fate == MEMSTORE_LATE)
			memstore_add_late(s, name, bytes, len, creates);
	} else {
		if (!refused)
			memstore_write(s, name, bytes, len);
		if (fate == MEMSTORE_LOST)
			ret = STORE_AMBIGUOUS;
		if (fate == MEMSTORE_REPEATED &&
		    condition->kind != STORE_ALWAYS)
			ret = STORE_CONFLICT;
	}
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static inline int memstore_list(struct filestore *store,
				struct filestore_page *page, const char *prefix,
				size_t limit, struct error *err)
{
	struct memstore *s = memstore_of(store);
	int ret = memstore_refusal(memstore_ask(s, MEMSTORE_LIST, prefix, err));
	size_t at = memstore_at(s, page->next ? page->next : prefix);

	free(page->next);
	page->next = NULL;
	for (; !ret && at < s->nr; at++) {
		struct filestore_info info = {0};

		if (strncmp(s->files[at].name, prefix, strlen(prefix)) != 0)
			break;
		if (page->nr == limit) {
			page->next = mem_strdup(s->files[at].name);
			break;
		}
		memstore_info(&info, &s->files[at]);
		ret = filestore_page_add(page, s->files[at].name, &info);
	}
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static inline int memstore_delete(struct filestore *store, const char *name,
				  struct error *err)
{
	struct memstore *s = memstore_of(store);
	enum memstore_fate fate = memstore_ask(s, MEMSTORE_DELETE, name, err);
	int ret = memstore_refusal(fate);

	if (fate == MEMSTORE_NORMAL || fate == MEMSTORE_LOST)
		memstore_remove(s, name);
	if (fate == MEMSTORE_LOST || fate == MEMSTORE_NOTHING ||
	    fate == MEMSTORE_LATE)
		ret = STORE_AMBIGUOUS;
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static inline void memstore_close(struct filestore *store)
{
}

static inline void memstore_init(struct memstore *s)
{
	static const struct filestore_ops ops = {
		.read = memstore_read,
		.head = memstore_head,
		.put = memstore_put,
		.list = memstore_list,
		.delete = memstore_delete,
		.close = memstore_close,
	};

	memset(s, 0, sizeof(*s));
	s->store.ops = &ops;
	s->clock = 1000000;
	memstore_check(pthread_mutex_init(&s->lock, NULL) == 0);
}

static inline void memstore_release(struct memstore *s)
{
	memstore_drop_late(s);
	for (size_t i = 0; i < s->nr; i++) {
		free(s->files[i].name);
		free(s->files[i].bytes);
	}
	free(s->files);
	free(s->late);
	free(s->late_creates);
	pthread_mutex_destroy(&s->lock);
}

#endif
