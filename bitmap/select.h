/* SPDX-License-Identifier: MIT */
/*
 * Which commits get a bitmap.
 *
 * A query walks from each tip to the nearest bitmaps, so what counts is how
 * far that is for the tips people ask for, at what price in bitmaps. From
 * newest to oldest, one commit is taken of each gap, and gaps grow with the
 * distance from the newest: 1/dense_nr of it, at least one commit (so that the
 * newest 2 * dense_nr are all taken), at most SELECT_MAX_GAP. Up to there the
 * number of bitmaps grows with the logarithm of the history. Inside a gap a
 * merge is preferred, because later branches start from merges, and of these
 * the newest. Wanted tips are always taken.
 */
#ifndef BITMAP_SELECT_H
#define BITMAP_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "walk/history.h"

#define SELECT_MAX_GAP 4096

/* The range of dense_nr, and objects for each commit of it. */
#define SELECT_MIN_DENSE_NR 14
#define SELECT_MAX_DENSE_NR 128
#define SELECT_OBJECTS_PER_DENSE_NR 4096

/*
 * The dense_nr of an index of so many objects. Of few objects, what commits add
 * lies all over a bitmap, so that one more bitmap takes nearly as much as the
 * one beside it; and walks are short.
 */
size_t bitmap_select_dense_nr(size_t object_nr);

/*
 * Select from `nr` commits in newest-first order. `is_tip` (by commit_nr, of
 * history->nr bytes) marks wanted tips. *selected is set to a malloc()ed array
 * of *selected_nr commit_nr, newest first.
 */
int bitmap_select(uint32_t **selected, size_t *selected_nr,
		  const struct history *h, const uint32_t *commits, size_t nr,
		  size_t dense_nr, const uint8_t *is_tip, struct error *err);

/* How many that would be without wanted tips. O(of these). */
size_t bitmap_select_nr(size_t nr, size_t dense_nr);

#endif
