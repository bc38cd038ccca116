/* SPDX-License-Identifier: MIT */
/*
 * The window of a delta search: the last candidates that the window has
 * reached. The next candidate is tried as a delta of each of them.
 *
 *	oldest                               newest
 *	[ member | member |  ...  | member | member ]  <- candidate
 *
 * A member's bytes are read, and its delta index is made, on first use. A
 * member that became a base moves to the newest place, because it is likely to
 * become a base again. A candidate that became a delta of the greatest depth
 * cannot be a base and does not enter the window.
 *
 * If objects have layers (islands/islands.h), the window holds as many members
 * of each layer as it would hold in total without layers. So a candidate meets
 * as many possible bases of its own layer as without layers.
 *
 * One window per thread.
 */
#ifndef DELTAS_DELTA_WINDOW_H
#define DELTAS_DELTA_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "deltas/delta-search.h"
#include "deltas/items.h"

struct delta_window;

/*
 * The value in the table `depths` of delta_window_new() for an item whose depth
 * is one more than the depth of its base.
 */
#define DELTA_WINDOW_BASE_DEPTH UINT16_MAX

/*
 * Make a window. Returns NULL if there is no memory. All arguments are
 * borrowed.
 * - heights: for each item, the number of deltas in the longest chain of which
 *   the item is the base.
 * - depths: for each item that an earlier pass has made a delta, an upper bound
 *   of its depth. The value is DELTA_WINDOW_BASE_DEPTH if the item's base is
 *   an earlier candidate of the same segment. The window updates the table as
 *   it moves. NULL in the first pass.
 */
struct delta_window *delta_window_new(
	const struct packing_items *list,
	const struct delta_search_options *options, const uint16_t *heights,
	uint16_t *depths, struct odb_reader *reader);
void delta_window_free(struct delta_window *w);

/*
 * Empty the window of a delta search, so that another segment can be searched.
 */
void delta_window_reset(struct delta_window *w);

/* The best delta that was found for a candidate. */
struct delta_found {
	/* item number of the base; PACKING_NO_ITEM: no delta was found */
	uint32_t base;
	/* malloc()ed, owned by the caller; NULL: no delta was found */
	void *delta;
	size_t len;
};

/*
 * Move the window by one candidate. If the candidate is a target, first search
 * its best base. If the candidate is a delta already, *found is set only to a
 * delta that is better than the present delta. Returns 0 or a negative error
 * code. After an error, *found is empty.
 */
int delta_window_slide(struct delta_window *w, uint32_t item, bool is_target,
		       struct delta_found *found, struct error *err);

#endif
