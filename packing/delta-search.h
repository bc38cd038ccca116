/* SPDX-License-Identifier: MIT */
/*
 * Looking for deltas: a window slides over the candidates, sorted so that
 * objects likely to resemble each other are neighbours.
 *
 * Candidates are the items that are stored whole so far (PACKING_WHOLE and
 * PACKING_COPY) of at least 50 bytes and under the big-file threshold, and
 * external items (bases only). Blobs whose paths have the attribute delta unset
 * are none (names_apply_attrs()). The order is type, name hash, external items
 * first, size descending, as in git-pack-objects(1)'s description; objects of
 * the tip come before others of their name, and so do those of more islands.
 * Two objects from one and the same pack are not tried against each other:
 * their maker already did, unless an island has parted what it had paired
 * (`retry`). A candidate whose whole window is like that is not even read, so
 * that the search costs in proportion to what is new.
 *
 * Where items have groups (object/name-group.h), these take the place of the
 * name hash; groups that are whole paths make it three passes (delta-order.h).
 */
#ifndef PACKING_DELTA_SEARCH_H
#define PACKING_DELTA_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "packing/items.h"
#include "sys/progress.h"

struct delta_search_options {
	unsigned threads; /* 0: as many as processors */
	unsigned window;  /* candidates compared with; 0: no search */
	unsigned depth;   /* longest chain of deltas; over 4095: 4095 */
	enum name_grouping grouping; /* what the items' groups are */
	uint64_t window_memory;      /* bytes per thread; 0: no limit */
	uint64_t cache_size;  /* bytes of deltas kept until written; 0: all */
	uint64_t cache_limit; /* bytes: larger deltas are not kept; 0: any */
	uint64_t big_file_threshold; /* bytes */
	int compression;      /* zlib level of kept deltas, -1: default */
	bool check_ids;       /* of all objects that are read */
	bool retry_same_pack; /* as with repack -f: try all pairs */
	const struct progress_out *progress; /* "Compressing objects" */
};

/*
 * Search. Items for which a delta was found that is smaller than half the
 * object (less with depth) become PACKING_DELTA with base, delta_size and,
 * within the cache, the deflated delta. Chains that result, together with the
 * PACKING_COPY_DELTA items hanging on them, are at most `depth` long and have
 * no cycles. What is found does not depend on the number of threads.
 */
int delta_search_run(struct packing_items *list,
		     const struct delta_search_options *options,
		     struct error *err);

/*
 * Make the delta of a PACKING_DELTA item again (its bytes were not kept):
 * malloc()ed, deflated, into *delta and *delta_len. `reader` is the calling
 * thread's.
 */
int delta_search_remake(const struct packing_items *list, uint32_t item,
			struct odb_reader *reader, int compression,
			uint8_t **delta, size_t *delta_len, struct error *err);

#endif
