/* SPDX-License-Identifier: MIT */
/*
 * The window of a delta search: the last candidates passed, against which the
 * next one is tried.
 *
 *	oldest                               newest
 *	[ member | member |  ...  | member | member ]  <- candidate
 *
 * A member's bytes are read, and its index is made, when it is first used. A
 * member that served as a base moves to the newest place, for it is likely to
 * serve again. A candidate that became a delta of the greatest depth is no
 * base and does not enter.
 *
 * Of objects in layers (islands/islands.h) there are as many members from each
 * as the window is long, so that a candidate meets as many that may be its
 * base as it would without those that may not.
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

/* In `depths`: one more than that of the item's base. */
#define DELTA_WINDOW_BASE_DEPTH UINT16_MAX

/*
 * `heights`: for each item, how many deltas that are there already hang on it,
 * the longest chain counted. `depths`: for items that an earlier pass has made
 * deltas how deep they are at most, or DELTA_WINDOW_BASE_DEPTH where the base
 * comes before them in the same segment; each is brought up to date as the
 * window passes. NULL without earlier passes. All is borrowed; NULL when out of
 * memory.
 */
struct delta_window *delta_window_new(
	const struct packing_items *list,
	const struct delta_search_options *options, const uint16_t *heights,
	uint16_t *depths, struct odb_reader *reader);
void delta_window_free(struct delta_window *w);

/* Empty the window, for another segment. */
void delta_window_reset(struct delta_window *w);

/* The best delta of a candidate. */
struct delta_found {
	uint32_t base; /* item; PACKING_NO_ITEM when there is none */
	void *delta;   /* malloc()ed, the caller's; NULL when there is none */
	size_t len;
};

/*
 * Slide on by one candidate, and look for its best base first if it is a
 * target; of one that is a delta already, for a better one. 0, or a negative
 * error with nothing in *found.
 */
int delta_window_slide(struct delta_window *w, uint32_t item, bool is_target,
		       struct delta_found *found, struct error *err);

#endif
