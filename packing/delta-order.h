/* SPDX-License-Identifier: MIT */
/*
 * The candidates of a delta search, in the order in which the window slides
 * over them. They are split into segments that are searched independently.
 *
 * Segments depend on the candidates only, not on the number of threads. So the
 * result of the search does not depend on the number of threads.
 */
#ifndef PACKING_DELTA_ORDER_H
#define PACKING_DELTA_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packing/delta-search.h"
#include "packing/items.h"

/*
 * One pass over the candidates. All passes keep the order by name at heart: a
 * base always comes before its deltas. So several passes together cannot make a
 * cycle. DELTA_PASS_ROOTS and DELTA_PASS_ALL have the same segments.
 */
enum delta_pass {
	/* all objects that are stored whole */
	DELTA_PASS_NAMES,
	/* Sorted by path, within each path by name: versions of one file. */
	DELTA_PASS_PATHS,
	/*
	 * Objects that are still whole after that: the first of each path.
	 * These are far apart in the order of all candidates.
	 */
	DELTA_PASS_ROOTS,
	/*
	 * All candidates. Whole objects and poor deltas are tried again: their
	 * base may be a file of another path.
	 */
	DELTA_PASS_ALL,
};

struct delta_candidate {
	uint32_t item;
	/*
	 * May become a delta: an earlier candidate of its segment may be its
	 * base.
	 */
	bool is_target;
	bool is_skipped; /* no part of this pass */
	/* not tried against any earlier candidate */
	bool starts;
	/* Already a delta of a candidate in the same segment. */
	bool is_near;
};

/* Candidates [first, end), all of one type. */
struct delta_segment {
	size_t first, end;
	/* estimated cost of the search, without unit */
	uint64_t weight;
	uint64_t target_nr; /* at least 1 */
};

struct delta_order {
	/* owned: items, in the order of names */
	uint32_t *sorted;
	/* owned: for the current pass */
	struct delta_candidate *candidates;
	size_t nr;
	/*
	 * Owned; heaviest first, so that threads finish at about the same time.
	 * Segments without targets are left out.
	 */
	struct delta_segment *segments;
	size_t segment_nr, segment_alloc;
	uint64_t target_nr;
};

/*
 * Choose the candidates, sort them and split them for the first pass. That is
 * DELTA_PASS_PATHS if the items' path hashes stand for whole paths, else
 * DELTA_PASS_NAMES. Returns 0 with *order owned by the caller, or ERR_NOMEM
 * with *order released.
 */
int delta_order_init(struct delta_order *order,
		     const struct packing_items *list,
		     const struct delta_search_options *options);

/* Split the same candidates for another pass. Returns 0 or ERR_NOMEM. */
int delta_order_pass(struct delta_order *order,
		     const struct packing_items *list,
		     const struct delta_search_options *options,
		     enum delta_pass pass);
void delta_order_release(struct delta_order *order);

/*
 * Whether `target` may be tried against `base`. False if both come from one
 * pack: the search that made the pack has tried them. True in any case with
 * retry_same_pack, or if the target is marked `retry`. External items come from
 * no pack.
 */
static inline bool delta_order_may_pair(const struct packing_item *base,
					const struct packing_item *target,
					bool retry_same_pack)
{
	return retry_same_pack || target->retry || base->is_external ||
	       base->pack_nr == PACKING_NO_ITEM ||
	       base->pack_nr != target->pack_nr;
}

#endif
