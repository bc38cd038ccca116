/* SPDX-License-Identifier: MIT */
/*
 * Which commits get a bitmap.
 *
 * A query walks from each tip to the nearest bitmaps, so what counts is how
 * far that is for the tips people ask for, at what price in bitmaps. From
 * newest to oldest, one commit is taken of each gap, and gaps grow with the
 * distance from the newest: 1/dense_nr of it, at least one commit (so that the
 * newest 2 * dense_nr are all taken), at most SELECT_MAX_GAP. Up to there the
 * number of bitmaps grows with the logarithm of the history. Inside a gap that
 * commit is preferred which is on most wanted tips' lines of first parents:
 * what walks back from anywhere comes to such a line, and bitmaps along one
 * hold each other, so that their differences are small. Then a merge, because
 * later branches start from merges, and of these the newest. Wanted tips are
 * always taken.
 *
 * A plain selection is what an index costs that is made without regard to how
 * far a query walks: all of the newest SELECT_PLAIN_NEWEST commits, then one of
 * SELECT_PLAIN_GAP, and behind the newest SELECT_PLAIN_FAR one of
 * SELECT_PLAIN_FAR_GAP. Indexes of stock Git are as dense.
 */
#ifndef BITMAP_SELECT_H
#define BITMAP_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "walk/history.h"

#define SELECT_MAX_GAP 16384

/* The largest dense_nr: from few to many objects. */
#define SELECT_MIN_DENSE_NR 14
#define SELECT_MAX_DENSE_NR 128
#define SELECT_OBJECTS_PER_DENSE_NR 4096

/* As dense_nr: the plain selection. */
#define SELECT_PLAIN 0
#define SELECT_PLAIN_NEWEST 100
#define SELECT_PLAIN_GAP 100
#define SELECT_PLAIN_FAR 20000
#define SELECT_PLAIN_FAR_GAP 5000

/*
 * The dense_nr that an index of so many objects has at most. Of few objects,
 * what commits add lies all over a bitmap, so that one more bitmap takes nearly
 * as much as the one beside it; and walks are short.
 */
size_t bitmap_select_dense_nr(size_t object_nr);

/* What a tip is wanted for. */
enum select_tip {
	SELECT_NO_TIP,
	SELECT_TIP,         /* named by configuration, or HEAD: always taken */
	SELECT_DEFAULT_TIP, /* nobody named it: the newest of these are taken */
};

/* What to select from; all borrowed for the call. */
struct bitmap_select_input {
	const struct history *history;
	const uint32_t *commits;       /* commit_nr, newest first */
	const uint32_t *parents_first; /* the same */
	size_t nr;
	size_t dense_nr;       /* SELECT_PLAIN: a plain selection */
	const uint8_t *is_tip; /* enum select_tip, by commit_nr */
	size_t default_tip_nr; /* so many default tips at most */
};

/*
 * *selected is set to a malloc()ed array of *selected_nr commit_nr, newest
 * first.
 */
int bitmap_select(uint32_t **selected, size_t *selected_nr,
		  const struct bitmap_select_input *in, struct error *err);

/* How many that would be without tips. O(of these). */
size_t bitmap_select_nr(size_t nr, size_t dense_nr);

#endif
