/* SPDX-License-Identifier: MIT */
/*
 * The second half of fsck (object/fsck.h): blobs that a tree has as
 * .gitmodules or .gitattributes are checked when all trees have been seen, as
 * only then it is known which they are.
 */
#ifndef ODB_FSCK_BLOB_H
#define ODB_FSCK_BLOB_H

#include <pthread.h>

#include "object/fsck.h"

/*
 * Check a blob that is some tree's .gitmodules. `data` NULL: too large to be
 * read. Returns as fsck_object().
 */
int fsck_blob_gitmodules(struct fsck *f, const struct oid *oid,
			 const void *data, size_t len, struct error *err);

/* Blobs to check, gathered by any number of threads. */
struct fsck_blobs {
	pthread_mutex_t lock;  /* guards the map */
	struct oidmap special; /* owned; values: bits of enum fsck_special */
};

void fsck_blobs_init(struct fsck_blobs *blobs);
void fsck_blobs_release(struct fsck_blobs *blobs);

/* Note one: what fsck's `found` is to call. 0 or ERR_NOMEM. */
int fsck_blobs_add(struct fsck_blobs *blobs, const struct oid *oid,
		   enum fsck_special special, struct error *err);

/* How fsck_blobs_check() reads. */
struct fsck_blobs_source {
	/*
	 * Get an object. 1 with its type, and if that is a blob its bytes,
	 * valid until the next call (NULL: too large to be read); 0 when it
	 * cannot be had; or a negative error.
	 */
	int (*read)(void *ctx, const struct oid *oid, enum object_type *type,
		    const void **data, size_t *len, struct error *err);
	/* Whether a missing one is to be expected (a partial clone). NULL: no
	 */
	bool (*is_promised)(void *ctx, const struct oid *oid);
	void *ctx;
};

/*
 * Check all that were gathered, in the order of their ids. Returns as
 * fsck_object(). One thread.
 */
int fsck_blobs_check(struct fsck_blobs *blobs, struct fsck *f,
		     const struct fsck_blobs_source *source, struct error *err);

#endif
