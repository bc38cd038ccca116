/* SPDX-License-Identifier: MIT */
/*
 * The second half of fsck: checks the blobs that trees list as .gitmodules or
 * .gitattributes. object/fsck.h has the first half. These blobs are known only
 * after all trees were checked. So the first half collects their ids, and the
 * blobs are checked at the end.
 */
#ifndef ODB_FSCK_BLOB_H
#define ODB_FSCK_BLOB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "object/fsck.h"

/*
 * Checks a blob that some tree lists as .gitmodules. `data` is NULL if the blob
 * is too large to read. Returns 0 if no error was reported, 1 if an error was
 * reported, or a negative error code.
 */
int fsck_blob_gitmodules(struct fsck *f, const struct oid *oid,
			 const void *data, size_t len, struct error *err);

/* The ids of blobs to check. Any number of threads may add ids. */
struct fsck_blobs {
	pthread_mutex_t lock; /* guards the map */
	/*
	 * owned: ids of blobs; the value is a set of bits of enum fsck_special
	 */
	struct oidmap special;
};

void fsck_blobs_init(struct fsck_blobs *blobs);
void fsck_blobs_release(struct fsck_blobs *blobs);

/*
 * Adds the id of a blob to the list of blobs to check. The callback `found` of
 * struct fsck calls this function. Returns 0 or ERR_NOMEM.
 */
int fsck_blobs_add(struct fsck_blobs *blobs, const struct oid *oid,
		   enum fsck_special special, struct error *err);

/* The callbacks by which fsck_blobs_check() reads objects. */
struct fsck_blobs_source {
	/*
	 * Reads an object. Returns 1 with the type of the object, 0 if the
	 * object cannot be read, or a negative error code. For a blob, *data is
	 * the content, valid until the next call. *data is NULL if the blob is
	 * too large to read.
	 */
	int (*read)(void *ctx, const struct oid *oid, enum object_type *type,
		    const void **data, size_t *len, struct error *err);
	/*
	 * Returns whether an object may be missing, because a remote of a
	 * partial clone has promised it. NULL: no object may be missing.
	 */
	bool (*is_promised)(void *ctx, const struct oid *oid);
	void *ctx;
};

/*
 * Checks all collected blobs, sorted by id. Returns 0 if no error was reported,
 * 1 if an error was reported, or a negative error code. For one thread.
 */
int fsck_blobs_check(struct fsck_blobs *blobs, struct fsck *f,
		     const struct fsck_blobs_source *source, struct error *err);

/*
 * Finds values in .gitmodules that could harm a client:
 * - a name that leads out of .git/modules,
 * - a URL that looks like an option,
 * - a URL that smuggles a newline into the request to a credential helper.
 *
 * The rules are those of stock Git, found by experiments.
 */

/*
 * Returns whether a submodule name is valid: not empty, and without a component
 * "..". A backslash separates components too.
 */
bool submodule_url_name_is_good(const char *name, size_t len);

/* Returns whether a URL or a path looks like an option. */
bool submodule_url_is_option(const char *value);

/*
 * Returns whether a URL is allowed:
 *
 * - A relative URL ("./", "../") has no newline, not even as "%0a". If a
 *   relative URL contains "../", no colon or slash follows the last "../"
 *   directly. Otherwise the URL to which it is appended could get another
 *   protocol or host.
 * - A git:// URL has no newline.
 * - A URL of http, https, ftp or ftps is well-formed (RFC 3986), has a host and
 *   no newline. This also holds for "https::<url>".
 * - No URL looks like an option.
 */
bool submodule_url_is_good(const char *url);

#endif
