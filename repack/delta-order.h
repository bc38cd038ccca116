/* SPDX-License-Identifier: MIT */
/*
 * The candidates of a delta search in the order in which the window slides
 * over them, cut into segments that are searched independently.
 *
 * Segments depend on the candidates alone, not on the number of threads, so
 * that neither does what is found.
 */
#ifndef REPACK_DELTA_ORDER_H
#define REPACK_DELTA_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "repack/delta-search.h"
#include "repack/items.h"

struct delta_candidate {
	uint32_t item;
	bool is_target; /* may become a delta: there is an earlier candidate in
			   its segment that it may be paired with */
};

/* Candidates [first, end), all of one type. */
struct delta_segment {
	size_t first, end;
	uint64_t weight;    /* what searching it costs, in no unit */
	uint64_t target_nr; /* at least 1 */
};

struct delta_order {
	struct delta_candidate *candidates; /* owned */
	size_t nr;
	struct delta_segment *segments; /* owned; heaviest first, so that
					   threads end together; those without
					   targets are left out */
	size_t segment_nr, segment_alloc;
	uint64_t target_nr;
};

/*
 * Choose, sort and cut. Returns 0 with *order owned by the caller, or
 * ERR_NOMEM with *order released.
 */
int delta_order_init(struct delta_order *order, const struct repack_items *list,
		     const struct delta_search_options *options);
void delta_order_release(struct delta_order *order);

/*
 * Whether `target` may be tried against `base`: not when both come from one
 * pack, whose maker did that already, unless islands have taken its result
 * away. External items come from no pack.
 */
static inline bool delta_order_may_pair(const struct repack_item *base,
					const struct repack_item *target,
					bool retry_same_pack)
{
	return retry_same_pack || target->retry || base->is_external ||
	       base->pack_nr == REPACK_NO_ITEM ||
	       base->pack_nr != target->pack_nr;
}

#endif
