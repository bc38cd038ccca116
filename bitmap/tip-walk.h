/* SPDX-License-Identifier: MIT */
/*
 * Counts the commits that requests for one tip each would walk, before any
 * bitmap is built.
 *
 * A request walks the commits that its tip reaches, except those that a commit
 * with a bitmap reaches. The commit with the bitmap must be in the closure of
 * the tip:
 *
 *	T---o---o---B---o        B: has a bitmap
 *	     \         /         T walks 4 commits: T, o, o, o
 *	      o-------o
 *	               the commits that B reaches are not walked
 *
 * Up to 256 tips are counted in one pass over the history from children to
 * parents. Each commit has two sets of tips: the tips that reach the commit,
 * and the tips whose requests find the commit in a bitmap. The pass ends as
 * soon as no tip has a commit left to walk.
 */
#ifndef BITMAP_TIP_WALK_H
#define BITMAP_TIP_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "walk/history.h"

struct tip_walk {
	const struct history *history; /* borrowed */
	/* borrowed: commit_nr, parents first; a closed set of commits */
	const uint32_t *commits;
	size_t commit_nr;
	/*
	 * borrowed array, indexed by commit_nr: whether the commit has a
	 * bitmap; may change between counts
	 */
	const uint8_t *has_bitmap;
	/*
	 * owned array, indexed by commit_nr: rank of the commit. The last
	 * commit in `commits` has rank 0. So a commit has a smaller rank than
	 * its parents.
	 */
	uint32_t *rank;
	/*
	 * owned: `parents` has the ranks of all parents. The parents of the
	 * commit with rank r are at [first_parent[r], first_parent[r + 1]).
	 */
	uint32_t *first_parent, *parents;
	/*
	 * owned, indexed by rank: the marks of a commit during a count; all
	 * zero before and after a count
	 */
	struct tip_walk_mark *marks;
	/* the ranks of the commits that the pass has still to visit */
	struct bitset pending;
	/* number of pending commits that at least one tip has to walk */
	size_t open_nr;
};

/*
 * Initialises *walk. All pointers are borrowed until tip_walk_release(), which
 * the caller calls in any case. Returns 0 or ERR_NOMEM.
 */
int tip_walk_init(struct tip_walk *walk, const struct history *history,
		  const uint32_t *commits, size_t commit_nr,
		  const uint8_t *has_bitmap);
void tip_walk_release(struct tip_walk *walk);

/*
 * Sets walked[i] to the number of commits that a request for tips[i] (a
 * commit_nr among the commits) walks. A pass visits few commits if
 * neighbours in `tips` are of the same age.
 */
void tip_walk_count(struct tip_walk *walk, uint32_t *walked,
		    const uint32_t *tips, size_t nr);

#endif
