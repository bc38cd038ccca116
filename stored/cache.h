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
 * A file whose link count is 1 is in no repository, and may be removed at any
 * time: opened files stay readable, and the functions below download the file
 * again. They remove nothing by themselves, except those that say so.
 */
#ifndef STORED_CACHE_H
#define STORED_CACHE_H

#include "generations/history.h"

/*
 * Seconds that a file may stay without a repository. A file is younger while a
 * repository is being made of it.
 */
#define STORED_CACHE_AGE 3600

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
 * Gives a file of a generation the further name `path`, which must be new and
 * whose directory exists. The file is downloaded if it is not in the cache, or
 * if it cannot be linked: `path` is on another file system than the cache, or
 * the file has too many links. Returns 0 or a negative error code. Threads may
 * call this.
 */
int stored_cache_link(struct stored_cache *cache, const char *path,
		      const struct generation_place *place,
		      const struct generation_file *file, struct error *err);

/*
 * Takes the local file `path` into the cache as the content of `file`. The
 * caller vouches for size and SHA-256, and has made the content durable. The
 * file is read-only from now on. Does nothing if the cache has the file, or if
 * `path` cannot be linked. Returns 0 or a negative error code.
 */
int stored_cache_add(struct stored_cache *cache,
		     const struct generation_file *file, const char *path,
		     struct error *err);

/*
 * Removes a file from the cache if no repository has it. Returns the number of
 * bytes that were freed. A failure is no error: the file stays.
 */
uint64_t stored_cache_drop(struct stored_cache *cache,
			   const struct generation_file *file);

/* Returns how many bytes this cache has downloaded since it was opened. */
uint64_t stored_cache_downloaded(const struct stored_cache *cache);

/*
 * Adds up the sizes of all files in the cache, in bytes. Removes files that
 * are in no repository if they are older than STORED_CACHE_AGE, and incomplete
 * ones. Returns 0 or a negative error code.
 */
int stored_cache_sweep(uint64_t *bytes, struct stored_cache *cache,
		       struct error *err);

/*
 * Makes the empty directory `dir` a bare repository with a generation
 * (stored/layout.h). Its files are links into the cache, so they must be
 * replaced and not written to; Git's commands do so. Returns 0 or a negative
 * error code; the directory may then have some files.
 */
int stored_cache_lay_out(struct stored_cache *cache, const char *dir,
			 const struct generation_place *place,
			 const struct generation *g, struct error *err);

#endif
