/* SPDX-License-Identifier: MIT */
/*
 * What goes into an index that is made from nothing: commits with a bitmap
 * (bitmap/select.h) and pseudo-merges (bitmap/pseudo-select.h), built, and no
 * more of them than a budget has words for.
 *
 * What a bitmap takes depends on the order of the bits: in a pack of ours
 * what a commit adds lies together, in another one it is scattered, and takes
 * up to three times as much. So a plain selection is built first, the newest
 * 100 commits and then one of 100, and what it takes is the budget. A
 * selection that thins out with distance, and lets a query walk less for the
 * same number, is then made as dense as there are words: of a few tries, each
 * of which is built, the densest that fits.
 */
#ifndef BITMAP_CHOOSE_H
#define BITMAP_CHOOSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/build.h"
#include "bitmap/pseudo-select.h"

/*
 * Sixteenths of what the plain selection takes that are spent. The rest makes
 * up for differences that are chosen with regard to the length of chains, which
 * take a little more than the smallest.
 */
#define CHOOSE_BUDGET_SIXTEENTHS 15
/* One of so many bitmaps may be of a tip that nobody named. */
#define CHOOSE_TIPS_PART 4
/* One of so many words may be of a default pseudo-merge. */
#define CHOOSE_PSEUDO_PART 4
/* One of so many words may be left. */
#define CHOOSE_LEFT_PART 16
/* How often it is built at most, besides plain selections. */
#define CHOOSE_TRIES 6

struct bitmap_choose_input {
	/* But for `selected` and `groups`; nothing old, nothing below. */
	struct bitmap_build_input build;
	const uint32_t *newest_first;     /* the same commits */
	const uint8_t *is_tip;            /* as in bitmap/select.h */
	const struct pseudo_tips *pseudo; /* NULL: no pseudo-merges */
	size_t object_nr;
};

/*
 * Choose and build. *out is released with bitmap_build_result_release(), also
 * after failure. 0, or a negative error as of bitmap_build().
 */
int bitmap_choose(struct bitmap_build_result *out,
		  const struct bitmap_choose_input *input, struct error *err);

#endif
