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
 * the set `spared` (indexed by obj_pos): objects that stay in any case, see
 * filtered_spared(). Returns 0 or a negative error code.
 */
int filtered_items(struct walk_items *items, struct walk *w,
		   const struct filter *filter, const struct bitset *spared,
		   struct error *err);

/*
 * Adds to *set (indexed by obj_pos) the objects that stay in the result even if
 * they do not pass the filter. All wants are added: commits, tags, trees and
 * blobs. If a tag is wanted, the objects that the tag leads to count as wants
 * too. If `filter_wants` is true, wants are filtered like other objects, and
 * nothing is added. *set must be initialised. Returns 0 or ERR_NOMEM.
 *
 * A bitmap query uses this set unchanged. A walk filters two kinds of wants
 * after all, as stock Git does, and removes them from the set:
 * - a wanted tree that is also the root tree of a commit of the result
 *   (filtered_unspare_roots());
 * - a wanted tree or blob that the walk has found below an earlier wanted tree
 *   (filtered_unspare()).
 */
int filtered_spared(struct bitset *set, struct walk *w,
		    const struct walk_tips *wants, bool filter_wants,
		    struct error *err);

/*
 * Removes an object from the set `spared`, which filtered_spared() has filled
 * with objects that stay in the result even if they do not pass the filter. The
 * filter then applies to this object.
 */
void filtered_unspare(struct bitset *spared, uint32_t obj_pos);

/*
 * Removes the root trees of commits (commit_nr) from the set `spared`, so that
 * the filter applies to these trees. Commits that are missing or were not
 * parsed are ignored. Returns 0 or a negative error code.
 */
int filtered_unspare_roots(struct bitset *spared, struct walk *w,
			   const uint32_t *commits, size_t nr,
			   struct error *err);

/*
 * Returns whether `wants` lists a tree before another tree or a blob. Only in
 * this case, the walk may find a want below an earlier wanted tree.
 */
bool filtered_may_nest(const struct walk_tips *wants);

/*
 * Removes from *result all objects and commits that are not in `spared` and do
 * not pass the filter. Returns 0 or a negative error code.
 */
int filtered_result(struct walk_result *result, struct walk *w,
		    const struct filter *filter, const struct bitset *spared,
		    struct error *err);

#endif
