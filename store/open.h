/* SPDX-License-Identifier: MIT */
/* Opening a store by its URL. */
#ifndef STORE_OPEN_H
#define STORE_OPEN_H

#include "store/filestore.h"
#include "store/s3.h"

/*
 * Opens the store at
 *
 *	file:///<directory>
 *	s3://<bucket>[/<prefix>]
 *
 * For "s3", the bucket and the prefix come from the URL, and everything else
 * from `settings`. If settings->keys is NULL, the keys of the process are used
 * (store_keys_find()). Returns 0 with *out owned by the caller
 * (filestore_close()), ERR_INVALID if the URL has another form, or an error of
 * the function that opens this kind of store.
 */
int store_open_url(struct filestore **out, const char *url,
		   const struct store_s3_settings *settings, struct error *err);

/*
 * Works like store_open_url(), with the same results. But if the URL names a
 * directory that is not a store yet, makes this directory a store. A bucket
 * must exist.
 */
int store_make_url(struct filestore **out, const char *url,
		   const struct store_s3_settings *settings, struct error *err);

/*
 * A store in a directory of a local or a shared file system.
 *
 *	<root>/<name>     the files of the store
 *	<root>/.tmp/      files that are not complete yet
 *	<root>/.lock      locks of names, see sys/rangelock.h
 *
 * A file is written and synced below .tmp. Then it gets its name by link(2) if
 * it must be new, and by rename(2) otherwise. Writers that replace or delete a
 * file hold the lock of its name, so a condition stays true until the rename.
 * The entity tag of a file is the SHA-256 hash of its content.
 *
 * In contrast to S3, a name cannot be the directory of another name, such as
 * "a" and "a/b".
 */

/*
 * Opens the store in a directory. A directory without .tmp is no store: it may
 * be the mount point of a file system that is not mounted. If the file system
 * is unmounted later, functions of the store return STORE_UNAVAILABLE, and
 * create nothing at the mount point.
 *
 * Removes files below .tmp that are older than a day. Returns 0 with *out owned
 * by the caller (filestore_close()), ERR_INVALID if `root` is a file, ERR_IO if
 * `root` is no store or cannot be read, or ERR_NOMEM.
 */
int store_directory_open(struct filestore **out, const char *root,
			 struct error *err);

/*
 * Works like store_directory_open(), with the same results, and makes the
 * directory a store if it is none yet. Only for commands that begin to use a
 * store.
 */
int store_directory_make(struct filestore **out, const char *root,
			 struct error *err);

#endif
