/* SPDX-License-Identifier: MIT */
/*
 * Keeps the cache directory of a node within a budget: removes local copies
 * that were not used for the longest time, and files that no copy has.
 */
#ifndef STORED_TRIM_H
#define STORED_TRIM_H

#include "stored/node.h"

struct stored_trim {
	/* size of the files in the cache at the end */
	uint64_t bytes;
	uint64_t evicted; /* number of evicted copies */
	bool is_busy;     /* another process trims: nothing was done */
};

/*
 * Removes copies, the least recently used first, until the files in the cache
 * have at most `budget` bytes. A copy that is in use stays (USE in
 * stored/node.h), so the cache may stay above the budget. A file that several
 * copies have is counted once. Tables, markers and files that could not be
 * linked are not counted. Also removes files that killed processes left more
 * than STORED_CACHE_AGE seconds ago. With a budget of 0, does only this.
 * Returns 0 or a negative error code.
 */
int stored_trim_run(struct stored_trim *out, struct stored_node *node,
		    uint64_t budget, struct error *err);

#endif
