/* SPDX-License-Identifier: MIT */
/*
 * The candidates of a delta search in the order in which the window slides
 * over them, cut into segments that are searched independently.
 *
 * Segments depend on the candidates alone, not on the number of threads, so
 * that neither does what is found.
 */
#ifndef PACKING_DELTA_ORDER_H
#define PACKING_DELTA_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packing/delta-search.h"
#include "packing/items.h"

/*
 * One way over the candidates. All have the same order at heart, that of
 * names, in which a base always comes before its deltas: no two passes together
 * can make a circle. Those but the second have the same segments.
 */
enum delta_pass {
	DELTA_PASS_NAMES, /* all that are stored whole */
	/* By path, in the order of names within each: versions of one file. */
	DELTA_PASS_PATHS,
	/* What is stored whole after that: the first of each path, far apart
	 * in the order of all. */
	DELTA_PASS_ROOTS,
	/* All, and what is whole or no good delta yet is tried once more: the
	 * files of another path that one came from. */
	DELTA_PASS_ALL,
};

struct delta_candidate {
	uint32_t item;
	bool is_target;  /* may become a delta: there is an earlier candidate in
			    its segment that it may be paired with */
	bool is_skipped; /* no part of this pass */
	bool starts;     /* it is not to be paired with any before it */
	bool is_near;    /* it is a delta already, against a candidate of its
			    segment */
};

/* Candidates [first, end), all of one type. */
struct delta_segment {
	size_t first, end;
	uint64_t weight;    /* what searching it costs, in no unit */
	uint64_t target_nr; /* at least 1 */
};

struct delta_order {
	uint32_t *sorted; /* owned: items, in the order of names */
	struct delta_candidate *candidates; /* owned: of one pass */
	size_t nr;
	struct delta_segment *segments; /* owned; heaviest first, so that
					   threads end together; those without
					   targets are left out */
	size_t segment_nr, segment_alloc;
	uint64_t target_nr;
};

/*
 * Choose, sort and cut, for the first pass: DELTA_PASS_PATHS if the items'
 * groups are paths, else DELTA_PASS_NAMES. Returns 0 with *order owned by the
 * caller, or ERR_NOMEM with *order released.
 */
int delta_order_init(struct delta_order *order,
		     const struct packing_items *list,
		     const struct delta_search_options *options);

/* The same candidates cut anew for another pass. 0 or ERR_NOMEM. */
int delta_order_pass(struct delta_order *order,
		     const struct packing_items *list,
		     const struct delta_search_options *options,
		     enum delta_pass pass);
void delta_order_release(struct delta_order *order);

/*
 * Whether `target` may be tried against `base`: not when both come from one
 * pack, whose maker did that already, unless islands have taken its result
 * away. External items come from no pack.
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
