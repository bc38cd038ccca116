/* SPDX-License-Identifier: MIT */
/*
 * Keeps the cache directory of a node within a budget: removes local copies
 * that were not used for the longest time, and files that no copy has.
 */
#ifndef COPIES_TRIM_H
#define COPIES_TRIM_H

#include "copies/node.h"

struct stored_trim {
	/*
	 * total size in bytes, after the trim, of the files in the cache and in
	 * the quarantines of pushes
	 */
	uint64_t bytes;
	uint64_t evicted; /* number of copies */
	/* true: another process was trimming the cache, so nothing was done */
	bool is_busy;
};

/*
 * Removes copies, the least recently used first, until the files in the cache
 * have at most `budget` bytes. `budget` 0: there is no limit, and no copy is
 * removed. A copy that is in use stays (USE in copies/node.h), so the cache may
 * stay above the budget. Files are counted once, however many copies have them.
 * Three kinds of files are not counted: reftables that were made for a copy;
 * markers (small files that say which generation a copy has); and files that
 * could not be linked to the cache. Also removes files that killed processes
 * have left, if they are older than STORED_CACHE_AGE. Returns 0 or a negative
 * error code. If a copy cannot be removed, the other copies are still removed,
 * and the error is returned at the end.
 */
int stored_trim_run(struct stored_trim *out, struct stored_node *node,
		    uint64_t budget, struct error *err);

#endif
