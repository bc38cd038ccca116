/* SPDX-License-Identifier: MIT */
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
#ifndef STORE_DIRECTORY_H
#define STORE_DIRECTORY_H

#include "store/filestore.h"

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
