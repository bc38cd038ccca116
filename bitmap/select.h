/* SPDX-License-Identifier: MIT */
/*
 * Selects the commits that get a bitmap.
 *
 * A query walks from each tip back to the nearest bitmaps. So two numbers
 * matter: the distance from likely tips to bitmaps, and the number of bitmaps.
 * The history, from newest to oldest, is divided into gaps, and one commit of
 * each gap is selected. The size of a gap is 1/dense_nr of its distance from
 * the newest commit, rounded down, but at least one commit and at most
 * SELECT_MAX_GAP. So the newest 2 * dense_nr commits are all selected. The
 * number of bitmaps grows with the logarithm of the history's length, until
 * gaps have the maximum size.
 *
 * Within a gap, the best commit is the one that lies on the first-parent lines
 * of the largest number of wanted tips. Wanted tips are HEAD and configured
 * tips. A walk from any commit soon reaches such a line. Also, each bitmap on a
 * line contains the older ones, so their XORs are small. Among equal commits, a
 * merge is better, because later branches start from merges. Among those that
 * are still equal, the newest commit is best. Wanted tips are always selected.
 *
 * A plain selection has fixed gaps, as dense as those of stock Git. It contains
 * all of the newest SELECT_PLAIN_NEWEST commits, and then one of every
 * SELECT_PLAIN_GAP commits. Beyond the newest SELECT_PLAIN_FAR commits, it
 * contains one of every SELECT_PLAIN_FAR_GAP commits.
 */
#ifndef BITMAP_SELECT_H
#define BITMAP_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "walk/history.h"

#define SELECT_MAX_GAP 16384

/*
 * The largest useful dense_nr (above; bitmap_select_dense_nr() computes it) is
 * SELECT_MIN_DENSE_NR, plus one for each SELECT_OBJECTS_PER_DENSE_NR objects of
 * the index, but at most SELECT_MAX_DENSE_NR.
 */
#define SELECT_MIN_DENSE_NR 14
#define SELECT_MAX_DENSE_NR 128
#define SELECT_OBJECTS_PER_DENSE_NR 4096

/*
 * If dense_nr is SELECT_PLAIN, the selection is plain: the number of commits
 * between two selected ones is fixed by the other constants.
 */
#define SELECT_PLAIN 0
#define SELECT_PLAIN_NEWEST 100
#define SELECT_PLAIN_GAP 100
#define SELECT_PLAIN_FAR 20000
#define SELECT_PLAIN_FAR_GAP 5000

/*
 * Returns the largest useful value of dense_nr (see the top of this file) for
 * an index with this many objects. The larger dense_nr is, the more commits get
 * a bitmap. In a small index, more bitmaps are not worth their space, because
 * walks are short anyway.
 */
size_t bitmap_select_dense_nr(size_t object_nr);

/*
 * What kind of tip a commit is. If several references name the commit, it is of
 * the kind that comes last in this enum.
 */
enum select_tip {
	SELECT_NO_TIP,
	/* a tag, or another reference that is no branch */
	SELECT_REF,
	SELECT_BRANCH,
	/*
	 * One of the newest branches. When an index is updated, such a tip gets
	 * a bitmap if it is new: the older index lacks the tip.
	 */
	SELECT_NEW_BRANCH,
	/* the tip is wanted: it is configured, or is HEAD */
	SELECT_TIP,
};

/* The input of a selection. All pointers are borrowed for the call. */
struct bitmap_select_input {
	const struct history *history;
	const uint32_t *commits; /* commit_nr, newest first */
	/* the same commits as in `commits`, but parents first */
	const uint32_t *parents_first;
	size_t nr;
	size_t dense_nr; /* or SELECT_PLAIN */
	/* indexed by commit_nr: a value of enum select_tip */
	const uint8_t *is_tip;
};

/*
 * Selects commits. *selected is set to a malloc()ed array of *selected_nr
 * commit_nr, newest first. Returns 0 or ERR_NOMEM.
 */
int bitmap_select(uint32_t **selected, size_t *selected_nr,
		  const struct bitmap_select_input *in, struct error *err);

/*
 * Returns how many of `nr` commits bitmap_select() selects with the density
 * dense_nr, if none of them is a tip. O(result).
 */
size_t bitmap_select_nr(size_t nr, size_t dense_nr);

#endif
