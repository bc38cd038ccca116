/* SPDX-License-Identifier: MIT */
/*
 * The window of a delta search: the last candidates passed. The next candidate
 * is tried against them.
 *
 *  oldest                               newest
 *  [ member | member |  ...  | member | member ]  <- candidate
 *
 * A member's bytes are read, and its index is made, on first use. A member that
 * became a base moves to the newest place, because it is likely to become a
 * base again. A candidate that became a delta of the greatest depth cannot be a
 * base and does not enter.
 *
 * If objects have layers (islands/islands.h), the window has as many members of
 * each layer as it is long. A candidate then meets as many possible bases as
 * without layers.
 *
 * One window per thread.
 */
#ifndef PACKING_DELTA_WINDOW_H
#define PACKING_DELTA_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packing/delta-search.h"
#include "packing/items.h"

struct delta_window;

/* A value of `depths`: one more than the depth of the item's base. */
#define DELTA_WINDOW_BASE_DEPTH UINT16_MAX

/*
 * Make a window. Returns NULL if memory is exhausted. All arguments are
 * borrowed.
 * - heights: for each item, the number of deltas in the longest chain on top of
 *   it.
 * - depths: for items that an earlier pass has made deltas, their depth or a
 *   higher number. DELTA_WINDOW_BASE_DEPTH if the base is an earlier candidate
 *   of the same segment. Updated as the window moves. NULL in the first pass.
 */
struct delta_window *delta_window_new(
	const struct packing_items *list,
	const struct delta_search_options *options, const uint16_t *heights,
	uint16_t *depths, struct odb_reader *reader);
void delta_window_free(struct delta_window *w);

/* Empty the window before another segment. */
void delta_window_reset(struct delta_window *w);

/* The best delta of a candidate. */
struct delta_found {
	/* item; PACKING_NO_ITEM if there is none */
	uint32_t base;
	/* malloc()ed, owned by the caller; NULL if there is none */
	void *delta;
	size_t len;
};

/*
 * Move the window by one candidate. If the candidate is a target, first search
 * its best base. If the candidate is a delta already, only a better one is
 * taken. Returns 0, or a negative error code with *found empty.
 */
int delta_window_slide(struct delta_window *w, uint32_t item, bool is_target,
		       struct delta_found *found, struct error *err);

#endif
