/* SPDX-License-Identifier: MIT */
/*
 * A store of files that several machines share: a directory (store/open.h) or a
 * bucket of an S3-compatible service (store/s3.h). The two kinds behave alike,
 * and the same tests run over both.
 *
 * A file has a name and content. A file appears complete or not at all. A file
 * that one node has written is visible at once to all nodes, also in listings.
 * A condition on a put is checked and applied in one step, so one of several
 * concurrent creators of a name wins. store/probe.h checks these promises.
 *
 * A store repeats a request only if a repeat cannot do harm:
 * - Reads and listings are repeated after each temporary failure.
 * - A put without a condition may reach the store twice, with the same bytes.
 * - A conditional put or a delete is repeated only if the answer proves that
 *   the request had no effect. Without such an answer, the outcome is unknown,
 *   and the function returns STORE_AMBIGUOUS.
 * A proxy between this program and the store may still repeat any request. So
 * STORE_CONFLICT does not prove that somebody else has written the file.
 *
 * Threads may use one store at the same time.
 */
#ifndef STORE_FILESTORE_H
#define STORE_FILESTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * The positive results of functions that use a store. Every function may also
 * return a negative error code. ERR_DENIED: the store refuses the keys or the
 * access. ERR_INVALID: a name or a setting is wrong. ERR_PEER: an answer breaks
 * the protocol. ERR_CORRUPT: content is not as it should be. Other codes are
 * ERR_IO and ERR_NOMEM. After a negative result of a put or a delete, the
 * request had no effect.
 */
enum filestore_result {
	/* there is no file of this name */
	STORE_ABSENT = 1,
	/* the condition of the put is false: nothing was written */
	STORE_CONFLICT = 2,
	/* the outcome is unknown: the put or delete may still take effect */
	STORE_AMBIGUOUS = 3,
	/* the store did not work, also after retries; nothing was changed */
	STORE_UNAVAILABLE = 4,
};

/* maximum length of a name */
#define STORE_NAME_MAX 512
/* maximum length of an entity tag, with its quotes */
#define STORE_ETAG_MAX 128
/* the length of a range that extends to the end of the file */
#define STORE_TO_END UINT64_MAX

/* Facts that a store returns about one file. */
struct filestore_info {
	uint64_t size; /* in bytes */
	/* seconds since 1970, by the clock of the store */
	int64_t mtime;
	/*
	 * when the store answered, by the clock of the store; 0: unknown. Only
	 * filestore_head() fills this in.
	 */
	int64_t now;
	/*
	 * Entity tag: files of one name with different content have different
	 * tags. Empty if the store did not send a tag.
	 */
	char etag[STORE_ETAG_MAX + 1];
};

/* Receives the bytes of a file in order. */
struct filestore_sink {
	/*
	 * A negative result ends the reading. The function that reads returns
	 * this result.
	 */
	int (*write)(void *ctx, const void *bytes, size_t len,
		     struct error *err);
	void *ctx;
};

/* The condition under which a put writes. */
struct filestore_condition {
	enum {
		/* replace the file if it exists */
		STORE_ALWAYS,
		/* write only if there is no file of this name */
		STORE_CREATE,
		/* write only if the file has the entity tag `etag` */
		STORE_REPLACE,
	} kind;
	/* borrowed; used only if kind is STORE_REPLACE */
	const char *etag;
};

/* One file of a listing. Its entity tag may be empty. */
struct filestore_entry {
	char *name; /* owned */
	struct filestore_info info;
};

/* A part of a listing. Zero-initialised before its first use. */
struct filestore_page {
	struct filestore_entry *entries; /* owned */
	size_t nr, alloc;
	/* owned: where the next part begins; NULL after the last part */
	char *next;
};

struct filestore;

/*
 * The functions of one kind of store. Each member works like the function
 * filestore_<member>() below. The callers have checked the names.
 */
struct filestore_ops {
	int (*read)(struct filestore *store, struct filestore_info *info,
		    const struct filestore_sink *sink, const char *name,
		    uint64_t off, uint64_t len, struct error *err);
	int (*head)(struct filestore *store, struct filestore_info *info,
		    const char *name, struct error *err);
	int (*put)(struct filestore *store, char *etag, const char *name,
		   const void *bytes, size_t len,
		   const struct filestore_condition *condition,
		   struct error *err);
	int (*list)(struct filestore *store, struct filestore_page *page,
		    const char *prefix, size_t limit, struct error *err);
	int (*delete)(struct filestore *store, const char *name,
		      struct error *err);
	int (*presign)(struct filestore *store, struct buf *url,
		       const char *name, unsigned seconds, struct error *err);
	void (*close)(struct filestore *store);
};

/* ---- watching */

enum filestore_operation {
	STORE_READ,
	STORE_HEAD,
	STORE_PUT,
	STORE_LIST,
	STORE_DELETE,
	STORE_OPERATIONS,
};

/*
 * A call of a store function that has ended. One event covers all requests of
 * the call: repeats after failures, and the parts of a large file.
 */
struct filestore_event {
	enum filestore_operation operation;
	/* the result of the store function */
	int ret;
	uint64_t ns; /* time that it took */
	/* bytes of files */
	uint64_t received, sent;
};

struct filestore_watch {
	/* Called in the thread of the request; NULL: nobody watches. */
	void (*fn)(void *ctx, const struct filestore_event *event);
	void *ctx; /* borrowed */
};

/*
 * The part that all kinds of stores have in common. The struct of each kind has
 * this struct as its first member.
 */
struct filestore {
	const struct filestore_ops *ops;
	struct filestore_watch watch;
};

/*
 * Sets the watcher of a store: a callback for each call that has ended. Call
 * this function before other threads use the store.
 */
void filestore_watch(struct filestore *store,
		     const struct filestore_watch *watch);

/* ---- requests */

/*
 * Returns whether a name is allowed: up to STORE_NAME_MAX characters of
 * "A-Za-z0-9._-/". The parts between the slashes are not empty and do not begin
 * with ".". So a name is a relative path, needs no quoting in a URL, and cannot
 * leave its directory.
 */
bool filestore_name_is_valid(const char *name);

/*
 * Reads `len` (> 0) bytes at `off`, or up to the end of the file if `len` is
 * STORE_TO_END. The sink gets each byte once. After a temporary failure, the
 * read continues where it stopped, if the file is unchanged.
 *
 * *info is filled before the sink gets the first byte; `info` may be NULL. The
 * entity tag may be empty if only a part of the file is read.
 *
 * Returns 0, STORE_ABSENT, STORE_UNAVAILABLE, or STORE_CONFLICT if the file was
 * replaced before its rest could be read. Returns ERR_INVALID if the range is
 * not in the file, or another negative error code. After a nonzero result, the
 * sink may have got some bytes.
 */
int filestore_read(struct filestore *store, struct filestore_info *info,
		   const struct filestore_sink *sink, const char *name,
		   uint64_t off, uint64_t len, struct error *err);

/*
 * Appends the content of a file of at most `max` bytes to *out. If somebody
 * replaces the file during the read, the read starts again with the new file.
 * If this happens in five reads, returns STORE_UNAVAILABLE. Otherwise returns
 * 0, ERR_CORRUPT if the file is longer than `max`, or another result of
 * filestore_read() except STORE_CONFLICT. After a nonzero result, *out is
 * unchanged.
 */
int filestore_get(struct filestore *store, struct buf *out,
		  struct filestore_info *info, const char *name, size_t max,
		  struct error *err);

/*
 * Reads exactly `len` bytes at `off`. Returns 0, STORE_ABSENT,
 * STORE_UNAVAILABLE, ERR_INVALID if the range is not in the file, or another
 * negative error code.
 */
int filestore_get_range(struct filestore *store, void *out, const char *name,
			uint64_t off, size_t len, struct error *err);

/*
 * Sets *info to the size, time and entity tag of a file. Returns 0,
 * STORE_ABSENT, STORE_UNAVAILABLE, or a negative error code.
 *
 * A store in a directory reads the whole file for its entity tag. For
 * info->now, the store sets the modification time of the directory ".tmp" to
 * the present, and reads this time back. This works even if the file system is
 * full.
 */
int filestore_head(struct filestore *store, struct filestore_info *info,
		   const char *name, struct error *err);

/*
 * Writes a file. `etag` has room for STORE_ETAG_MAX + 1 bytes and receives the
 * entity tag of the new file; NULL is allowed.
 *
 * Returns 0 if the file is written and durable, STORE_AMBIGUOUS,
 * STORE_UNAVAILABLE, or a negative error code. Returns STORE_CONFLICT if the
 * condition is false: for STORE_CREATE, the name is taken; for STORE_REPLACE,
 * the file has another entity tag or does not exist. If there is a file of this
 * name when STORE_CONFLICT is returned, that file is durable.
 */
int filestore_put(struct filestore *store, char *etag, const char *name,
		  const void *bytes, size_t len,
		  const struct filestore_condition *condition,
		  struct error *err);

/*
 * Works like filestore_put() with the content of the local file `path`. The
 * size of the file is limited by the store only. `sha256` is the SHA-256 hash
 * that the content must have, 32 bytes; NULL: any content.
 *
 * Returns ERR_MISSING if there is no such local file. Returns ERR_IO, without a
 * request to the store, if the content has another hash. Other programs may
 * replace the file during the call. They must not write to the file.
 */
int filestore_put_file(struct filestore *store, char *etag, const char *name,
		       const char *path, const uint8_t *sha256,
		       const struct filestore_condition *condition,
		       struct error *err);

/*
 * Replaces the content of *page by the next files whose names start with
 * `prefix`, at most `limit` (> 0). The listing begins at page->next, or at the
 * first file if page->next is NULL. The prefix is empty or the beginning of a
 * valid name. Files with invalid names are left out, so a page may be empty
 * although more pages follow. Files that appear or vanish during the listing
 * may be missing. The order is that of the store. Returns 0, STORE_UNAVAILABLE
 * or an error. After a failure, *page is empty.
 */
int filestore_list(struct filestore *store, struct filestore_page *page,
		   const char *prefix, size_t limit, struct error *err);
void filestore_page_release(struct filestore_page *page);

/*
 * Calls `fn` for each file whose name starts with `prefix`. A nonzero result of
 * `fn` ends the listing and is returned. Otherwise returns 0, STORE_UNAVAILABLE
 * or a negative error code.
 */
int filestore_list_each(struct filestore *store, const char *prefix,
			int (*fn)(void *ctx,
				  const struct filestore_entry *entry,
				  struct error *err),
			void *ctx, struct error *err);

/*
 * Deletes a file. Returns 0 (also if there is no such file), STORE_AMBIGUOUS,
 * STORE_UNAVAILABLE, or an error.
 */
int filestore_delete(struct filestore *store, const char *name,
		     struct error *err);

/*
 * Appends to *url a URL by which anyone can read the file. The URL is valid for
 * `seconds` from now (1 to 604800, a week). The file need not exist. Returns 0,
 * ERR_UNSUPPORTED if this kind of store has no URLs, ERR_INVALID, or ERR_NOMEM.
 */
int filestore_presign(struct filestore *store, struct buf *url,
		      const char *name, unsigned seconds, struct error *err);

/* Closes a store. NULL is allowed. No other thread may use the store. */
void filestore_close(struct filestore *store);

/* ---- for the implementations of stores */

/*
 * Appends an entry with a copy of the name to *page, unless the name is not
 * valid. Returns 0 or ERR_NOMEM.
 */
int filestore_page_add(struct filestore_page *page, const char *name,
		       const struct filestore_info *info);

#endif
