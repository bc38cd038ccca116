/* SPDX-License-Identifier: MIT */
/*
 * Downloads files of a generation into the cache, on several threads.
 *
 *	side bundle -> parts of it -> the cache      if several small files
 *	packs, large files ---------> the cache      are missing
 *	small files ----------------> the cache      otherwise
 */
#ifndef STORED_GATHER_H
#define STORED_GATHER_H

#include "stored/cache.h"

/* What to download. Everything is borrowed. */
struct stored_gather {
	struct stored_cache *cache;
	const struct generation_place *place;
	const struct generation *g;
	/*
	 * needed[i]: file i of *g is needed. A needed side bundle
	 * (stored/side.h) is downloaded only if this saves requests; it is not
	 * added to the cache.
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
 * its files are downloaded one by one. Returns 0, a negative result of also(),
 * ERR_MISSING if the store lacks a file, ERR_CORRUPT if the content of a file
 * is wrong, ERR_IO or another error.
 */
int stored_gather(const struct stored_gather *gather, struct error *err);

#endif
