/* SPDX-License-Identifier: MIT */
/*
 * Applies a filter to complete lists of objects. Only types and sizes are
 * checked. filter-walk.h handles filters that need paths.
 */
#ifndef WALK_FILTERED_H
#define WALK_FILTERED_H

#include "base/error.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

/*
 * Removes from *items the objects that do not pass the filter, except those in
 * `spared` (indexed by obj_pos). Returns 0 or a negative error code.
 */
int filtered_items(struct walk_items *items, struct walk *w,
		   const struct filter *filter, const struct bitset *spared,
		   struct error *err);

/*
 * Adds to *set (indexed by obj_pos) the objects that stay in the result even if
 * they do not pass the filter: wanted commits, and wanted tags with the objects
 * that they name. If `filter_wants` is set, wants are filtered like other
 * objects, and the set stays empty. *set must be initialised. Returns 0 or
 * ERR_NOMEM.
 */
int filtered_spared(struct bitset *set, struct walk *w,
		    const struct walk_tips *wants, bool filter_wants,
		    struct error *err);

/*
 * Removes from *result all objects and commits that do not pass
 * options->filter. Returns 0 or a negative error code.
 */
int filtered_result(struct walk_result *result, struct walk *w,
		    const struct walk_tips *wants,
		    const struct walk_options *options, struct error *err);

#endif
