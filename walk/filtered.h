/* SPDX-License-Identifier: MIT */
/*
 * Lists of objects through a filter, once they are found: a question of types
 * and sizes. Filters that need paths: filter-walk.h.
 */
#ifndef WALK_FILTERED_H
#define WALK_FILTERED_H

#include "base/error.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

/*
 * Drop from *items what does not pass, but for the objects (by obj_pos) of
 * `spared`.
 */
int filtered_items(struct walk_items *items, struct walk *w,
		   const struct filter *filter, const struct bitset *spared,
		   struct error *err);

/*
 * The objects that tips name, by obj_pos, with what their tags name; an empty
 * set with options->filter_wants. *set must be initialised.
 */
int filtered_spared(struct bitset *set, struct walk *w,
		    const struct walk_tips *wants, bool filter_wants,
		    struct error *err);

/* Apply options->filter to an enumeration, commits included. */
int filtered_result(struct walk_result *result, struct walk *w,
		    const struct walk_tips *wants,
		    const struct walk_options *options, struct error *err);

#endif
