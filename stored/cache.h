/* SPDX-License-Identifier: MIT */
/*
 * A cache of files of generations on the local disk. Each file is downloaded
 * once. A generation can be laid out as a bare repository of hard links to
 * these files.
 *
 *	<dir>/file/<2 digits>/<62 digits of the SHA-256>[x]    read-only content
 *	<dir>/file/<2 digits>/tmp_XXXXXX                       not complete yet
 *
 * The name of a file is the hash of its content. So a file never changes, and
 * generations and repositories can share it. Executable files have an "x" after
 * the hash, because hard links share the permissions. A file appears complete
 * or not at all, also after a power loss. So threads and processes can use one
 * directory without a lock. If two of them download one file, the second rename
 * replaces the file by equal content.
 *
 * If the link count of a file is 1, no repository uses the file, so it may be
 * removed at any time. Processes that have it open can still read it, and the
 * functions below download the file again when it is needed. Only
 * stored_cache_drop() and stored_cache_sweep() remove files.
 */
#ifndef STORED_CACHE_H
#define STORED_CACHE_H

#include "generations/history.h"
#include "stored/counts.h"
#include "sys/map.h"

/*
 * Minimum time in seconds that a file stays in the cache although no repository
 * has it. Making a repository from files of the cache takes less time, so its
 * files are not removed before it is complete.
 */
#define STORED_CACHE_AGE 3600

struct stored_cache;

/*
 * Opens the cache in a directory, which is created if it does not exist.
 * Returns 0 with *out owned by the caller, or a negative error code.
 */
int stored_cache_open(struct stored_cache **out, const char *dir,
		      struct error *err);
/* Closes the cache, and keeps its files. NULL is allowed. */
void stored_cache_close(struct stored_cache *cache);

/*
 * Sets the counters in which downloads are counted; borrowed. `counts` may be
 * NULL: then nothing is counted.
 */
void stored_cache_count(struct stored_cache *cache,
			struct stored_counts *counts);

/*
 * Appends the path of a file of a generation to *path, and downloads the file
 * if it is not in the cache. The file is read-only for the caller. Returns 0,
 * ERR_MISSING if the store lacks the file, ERR_CORRUPT if its content is wrong,
 * ERR_IO or another error. After an error, *path is unchanged. Several threads
 * may call this function.
 */
int stored_cache_file(struct stored_cache *cache, struct buf *path,
		      const struct generation_place *place,
		      const struct generation_file *file, struct error *err);

/*
 * Makes `path` a hard link to a file of a generation. `path` must not exist,
 * but its directory must. If the file is not in the cache, it is downloaded
 * first. If a link is impossible, because `path` is on another file system or
 * the file has too many links, the file is downloaded to `path`. Returns 0 or a
 * negative error code. Several threads may call this function.
 */
int stored_cache_link(struct stored_cache *cache, const char *path,
		      const struct generation_place *place,
		      const struct generation_file *file, struct error *err);

/* Returns whether the cache has the file `file` of a generation. */
bool stored_cache_has(const struct stored_cache *cache,
		      const struct generation_file *file);

/*
 * Adds `len` bytes to the cache as the content of `file`, which the cache does
 * not have. Returns 0, ERR_CORRUPT if the size or the SHA-256 is wrong, or
 * another negative error code. Several threads may call this function.
 */
int stored_cache_put(struct stored_cache *cache,
		     const struct generation_file *file, const void *bytes,
		     size_t len, struct error *err);

/*
 * Downloads a file of a generation and maps it, without adding it to the cache.
 * Returns 0 with *map, which the caller closes; ERR_MISSING if the store lacks
 * the file; ERR_CORRUPT if its content is wrong; ERR_IO or another error.
 */
int stored_cache_borrow(struct stored_cache *cache, struct sys_map *map,
			const struct generation_place *place,
			const struct generation_file *file, struct error *err);

/*
 * Adds the local file `path` to the cache as the content of `file`. The caller
 * has checked size and SHA-256, and has made the content durable. Nobody may
 * write to the file after this call. Does nothing if the cache has the file, or
 * if a hard link from `path` into the cache is impossible. Returns 0 or a
 * negative error code.
 */
int stored_cache_add(struct stored_cache *cache,
		     const struct generation_file *file, const char *path,
		     struct error *err);

/*
 * Removes a file from the cache, unless a repository has a link to it. Returns
 * the number of bytes that were freed, or 0 if the file stays.
 */
uint64_t stored_cache_drop(struct stored_cache *cache,
			   const struct generation_file *file);

/* Returns how many bytes this cache has downloaded since it was opened. */
uint64_t stored_cache_downloaded(const struct stored_cache *cache);

/*
 * Removes each file that is older than STORED_CACHE_AGE and is in no local copy
 * of a repository (a copy has hard links to files of the cache). A file whose
 * download was not completed is removed at the same age. Sets *bytes to the
 * total size of the files that stay in the cache. Returns 0 or a negative error
 * code.
 */
int stored_cache_sweep(uint64_t *bytes, struct stored_cache *cache,
		       struct error *err);

/*
 * Makes the empty directory `dir` a bare repository with the content of a
 * generation (stored/layout.h). Its files are hard links to files of the cache.
 * So nobody may write to these files; a program that changes one must replace
 * it, as Git's commands do. Returns 0 or a negative error code; the directory
 * may then have some files.
 */
int stored_cache_lay_out(struct stored_cache *cache, const char *dir,
			 const struct generation_place *place,
			 const struct generation *g, struct error *err);

/*
 * Downloads files of a generation into the cache, on several threads.
 *
 *	packs, large files ---------> the cache
 *	small files ----------------> the cache      if few are missing
 *	side bundle -> small files -> the cache      if several are missing
 */

/* What to download. Everything is borrowed. */
struct stored_gather {
	struct stored_cache *cache;
	const struct generation_place *place;
	const struct generation *g;
	/*
	 * needed[i] is true if file i of *g is needed. The side bundle is one
	 * file with the content of small files (stored/side.h). If file i is
	 * the side bundle, true means that the bundle may be downloaded in
	 * place of these small files. This is done only if it saves requests.
	 * The bundle itself is not added to the cache, only the small files in
	 * it.
	 */
	const bool *needed;
	/*
	 * called once, on one of the threads, while the others download files;
	 * NULL: not called
	 */
	int (*also)(void *ctx, struct error *err);
	void *ctx;
};

/*
 * Brings all needed files into the cache. If the bundle is missing or damaged,
 * its files are downloaded one by one. Returns 0, a negative result of the
 * callback `also`, ERR_MISSING if the store lacks a file, ERR_CORRUPT if the
 * content of a file is wrong, ERR_IO or another error.
 */
int stored_gather(const struct stored_gather *gather, struct error *err);

#endif
