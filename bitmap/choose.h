/* SPDX-License-Identifier: MIT */
/*
 * Chooses and builds the content of an index that is made from scratch: commits
 * with a bitmap (bitmap/select.h) and pseudo-merges (bitmap/pseudo-select.h). A
 * budget limits the number of words.
 *
 * The size of a bitmap depends on the order of the bits. In our packs the
 * objects that a commit adds are adjacent. In other packs they are scattered,
 * and bitmaps are up to three times as large. So a plain selection is built
 * first: the newest 100 commits and then one of 100. Its size is the budget.
 * Then a better selection is made, which thins out with distance, so that a
 * query walks less for the same number of bitmaps. It is built for a few
 * densities, and the densest that fits the budget is used.
 */
#ifndef BITMAP_CHOOSE_H
#define BITMAP_CHOOSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/build.h"
#include "bitmap/pseudo-select.h"

/*
 * The part of the plain selection's size that is spent, in sixteenths. The rest
 * compensates for XORs that are chosen to limit the length of chains, since
 * these are a little larger than the smallest XORs.
 */
#define CHOOSE_BUDGET_SIXTEENTHS 15
/* One of this many bitmaps may be of a tip that is not configured. */
#define CHOOSE_TIPS_PART 4
/* One of this many words may be of a default pseudo-merge. */
#define CHOOSE_PSEUDO_PART 4
/* One of this many words may stay unused. */
#define CHOOSE_LEFT_PART 16
/* Limit of builds, besides those of plain selections. */
#define CHOOSE_TRIES 6

struct bitmap_choose_input {
	/* Without `selected`, `groups`, old bitmaps and layers below. */
	struct bitmap_build_input build;
	/* the same commits as in `build` */
	const uint32_t *newest_first;
	/* by commit_nr: enum select_tip */
	const uint8_t *is_tip;
	const struct pseudo_tips *pseudo; /* NULL: no pseudo-merges */
	size_t object_nr;
};

/*
 * Chooses and builds. Returns 0, or a negative error code like bitmap_build().
 * The caller releases *out with bitmap_build_result_release() in any case.
 */
int bitmap_choose(struct bitmap_build_result *out,
		  const struct bitmap_choose_input *input, struct error *err);

#endif
