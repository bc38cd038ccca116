/* SPDX-License-Identifier: MIT */
/*
 * Files of generations on the local disk, each downloaded once, and generations
 * as bare repositories made of hard links to them.
 *
 *	<dir>/file/<2 digits>/<62 digits of the SHA-256>[x]    read-only content
 *	<dir>/file/<2 digits>/tmp_XXXXXX                       not complete yet
 *
 * A name stands for content, so a file never changes, and generations and
 * repositories share it. A file appears complete or not at all, also after a
 * loss of power. So threads and
 * processes can use one directory without a lock: if two of them download one
 * file, the second rename replaces the first one by equal content. "x" marks
 * executable files, since links share the permissions.
 *
 * Nothing is evicted: the caller removes the directory. The names allow it:
 * files whose link count is 1 are in no repository, and opened files stay
 * readable.
 */
#ifndef STORED_CACHE_H
#define STORED_CACHE_H

#include "generations/history.h"

struct stored_cache;

/*
 * Opens the cache in a directory, which is created if it does not exist.
 * Returns 0 with *out owned by the caller, or a negative error code.
 */
int stored_cache_open(struct stored_cache **out, const char *dir,
		      struct error *err);
/* Leaves the files. NULL is allowed. */
void stored_cache_close(struct stored_cache *cache);

/*
 * Appends the path of a file of a generation to *path, and downloads the file
 * if it is not in the cache. The file is read-only for the caller. Returns 0,
 * or an error of stored_fetch() with *path unchanged. Threads may call this.
 */
int stored_cache_file(struct stored_cache *cache, struct buf *path,
		      const struct generation_place *place,
		      const struct generation_file *file, struct error *err);

/*
 * Makes the empty directory `dir` a bare repository with a generation
 * (stored/layout.h). Its files are links into the cache, so they must be
 * replaced and not written to; Git's commands do so. A file that cannot be
 * linked is downloaded again: the directory is on another file system than the
 * cache, or the file has too many links. Returns 0 or a negative error code;
 * the directory may then have some files.
 */
int stored_cache_lay_out(struct stored_cache *cache, const char *dir,
			 const struct generation_place *place,
			 const struct generation *g, struct error *err);

#endif
