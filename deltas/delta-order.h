/* SPDX-License-Identifier: MIT */
/*
 * The candidates of a delta search, in the order in which the window slides
 * over them. They are split into segments that are searched independently.
 *
 * Segments depend on the candidates only, not on the number of threads. So the
 * result of the search does not depend on the number of threads.
 */
#ifndef DELTAS_DELTA_ORDER_H
#define DELTAS_DELTA_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "deltas/delta-search.h"
#include "deltas/items.h"

/*
 * The passes over the candidates of a delta search. Each pass visits the
 * candidates in an order, and makes an object a delta only of an earlier
 * object. DELTA_PASS_PATHS sorts the candidates by path. All other passes have
 * one and the same order, by name.
 *
 * Several passes together cannot make a cycle of deltas. The reason: in the
 * order by name, each base comes before its deltas, whichever pass made the
 * delta. So no chain of deltas leads back to its start.
 * - In the order by name, a pass makes an object a delta only of an earlier
 *   object.
 * - DELTA_PASS_PATHS has another order, but makes an object a delta only of an
 *   object of the same path. Objects of the same path have the same order in
 *   all passes. So the base comes first in the order by name, too.
 *
 * DELTA_PASS_ROOTS and DELTA_PASS_ALL split the candidates into the same
 * segments (parts that are searched independently).
 */
enum delta_pass {
	/* all objects that are stored whole, sorted by name */
	DELTA_PASS_NAMES,
	/*
	 * All whole objects, sorted by path hash, then by name hash. The
	 * versions of one file are neighbours.
	 */
	DELTA_PASS_PATHS,
	/*
	 * Objects that are still whole after DELTA_PASS_PATHS: the first
	 * version of each path.
	 */
	DELTA_PASS_ROOTS,
	/*
	 * All candidates. Whole objects and poor deltas are tried again,
	 * because their best base may be an object at another path.
	 */
	DELTA_PASS_ALL,
};

struct delta_candidate {
	uint32_t item;
	/*
	 * true: the candidate may become a delta of an earlier candidate in its
	 * segment
	 */
	bool is_target;
	/* true: the candidate is left out of this pass */
	bool is_skipped;
	/* true: the candidate is not tried against any earlier candidate */
	bool starts;
	/*
	 * true: the candidate is already a delta of a candidate in the same
	 * segment
	 */
	bool is_near;
};

/* A segment: the candidates with index in [first, end), all of one type. */
struct delta_segment {
	size_t first, end;
	/* estimated cost of searching the segment; has no unit */
	uint64_t weight;
	uint64_t target_nr; /* at least 1 */
};

struct delta_order {
	/* owned: numbers of the candidates' items, in the order of names */
	uint32_t *sorted;
	/* owned: the candidates, in the order of the current pass */
	struct delta_candidate *candidates;
	size_t nr;
	/*
	 * Owned: the segments, heaviest first, so that threads finish at about
	 * the same time. A segment in which no candidate may become a delta is
	 * left out.
	 */
	struct delta_segment *segments;
	size_t segment_nr, segment_alloc;
	uint64_t target_nr;
};

/*
 * Choose the candidates, sort them, and split them into segments for the first
 * pass. The first pass is DELTA_PASS_PATHS if the items' path hashes stand for
 * whole paths, otherwise DELTA_PASS_NAMES. Returns 0 with *order owned by the
 * caller, or ERR_NOMEM. After an error, *order is released.
 */
int delta_order_init(struct delta_order *order,
		     const struct packing_items *list,
		     const struct delta_search_options *options);

/*
 * Order the same candidates for another pass, and split them into segments
 * again. Returns 0 or ERR_NOMEM.
 */
int delta_order_pass(struct delta_order *order,
		     const struct packing_items *list,
		     const struct delta_search_options *options,
		     enum delta_pass pass);
void delta_order_release(struct delta_order *order);

/*
 * Returns whether `target` may be tried against `base`. If both are stored in
 * the same pack, the search that made this pack has tried the pair, so the
 * result is false. There are three exceptions: `retry_same_pack` is set, the
 * target is marked `retry`, or the base is an external item (a base that is not
 * written, see items.h).
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
