/* SPDX-License-Identifier: MIT */
/*
 * Selects bitmaps near tips whose requests would walk far.
 *
 * A selection that spreads bitmaps over the history (bitmap/select.h) is bad
 * for some tips: an old release branch, or a branch that nothing merged. A tip
 * is *far* if its request walks more than 1 / TIP_SELECT_PART of the commits
 * that the tip reaches. Each far tip gets a bitmap at the tip itself, or at a
 * commit of its first-parent line that is so near that the tip is not far any
 * more.
 *
 * One bitmap serves as many far tips as possible. On the first-parent line of a
 * tip, the *limit* is the oldest commit that is near enough. Here, the bitmap
 * of L2 serves both tips:
 *
 * 	T1--o--L2--o--L1--o--- trunk        L1, L2: limits of T1 and T2
 * 	      /
 * 	T2---o
 *
 * Far tips are taken in the order of their limits, the limit furthest from the
 * root first (T2, then T1). If no selected commit is between the tip and its
 * limit, the limit is selected. This order needs the fewest bitmaps. If a
 * bitmap serves one tip only, the tip itself is selected instead.
 *
 * A merge between a tip and its limit can still let the request walk far: the
 * limit's bitmap lacks the merged commits. So after each round the walk of each
 * tip is counted again, and the tips that are still far are handled with nearer
 * limits. The last round selects tips only.
 */
#ifndef BITMAP_TIP_SELECT_H
#define BITMAP_TIP_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/select.h"
#include "ewah/bitset.h"
#include "walk/history.h"

/*
 * A request for one tip should walk at most 1 / TIP_SELECT_PART of the commits
 * that the tip reaches.
 */
#define TIP_SELECT_PART 100

struct tip_select_input {
	const struct history *history;
	/* commit_nr, parents first: all commits of the pack */
	const uint32_t *commits;
	size_t commit_nr;
	/* indexed by commit_nr: enum select_tip */
	const uint8_t *is_tip;
	/* the kinds of tips that may get bitmaps: [first, last] */
	enum select_tip first, last;
	/* maximum number of commits to select */
	size_t most;
};

/*
 * Selects commits: sets has_bitmap[c] for each selected commit. The caller sets
 * has_bitmap[c] for commits that already have a bitmap. Selects at most
 * in->most commits: those whose bitmaps shorten the walks of requests most.
 * *selected_nr is set to the number of selected commits. Returns 0 or
 * ERR_NOMEM.
 */
int tip_select(uint8_t *has_bitmap, size_t *selected_nr,
	       const struct tip_select_input *in, struct error *err);

/*
 * For each tip, counts the commits that a request for this tip alone would
 * walk, before any bitmap is built.
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

struct tip_walk {
	const struct history *history; /* borrowed */
	/*
	 * borrowed: commit_nr, parents first; contains all ancestors of its
	 * commits
	 */
	const uint32_t *commits;
	size_t commit_nr;
	/*
	 * borrowed array, indexed by commit_nr: whether the commit has a
	 * bitmap. The caller may change the array between two calls of
	 * tip_walk_count().
	 */
	const uint8_t *has_bitmap;
	/*
	 * owned array, indexed by commit_nr: rank of the commit, which is its
	 * place in `commits`, counted from the end. `commits` has parents
	 * first, so a commit has a smaller rank than its parents.
	 */
	uint32_t *rank;
	/*
	 * owned: `parents` has the ranks of all parents. The parents of the
	 * commit with rank r are at [first_parent[r], first_parent[r + 1]).
	 */
	uint32_t *first_parent, *parents;
	/*
	 * owned, indexed by rank: the marks of a commit during
	 * tip_walk_count(); all zero otherwise
	 */
	struct tip_walk_mark *marks;
	/* the ranks of the commits that the pass must still visit */
	struct bitset pending;
	/*
	 * number of commits in `pending` that a request for at least one of the
	 * tips walks
	 */
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
 * Sets walked[i] to the number of commits that a request for tips[i] walks.
 * tips[i] is a commit_nr among walk->commits. Fewer commits are visited if
 * `tips` is sorted by age.
 */
void tip_walk_count(struct tip_walk *walk, uint32_t *walked,
		    const uint32_t *tips, size_t nr);

#endif
