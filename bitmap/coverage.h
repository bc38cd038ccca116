/* SPDX-License-Identifier: MIT */
/*
 * Measures how well bitmaps serve some tips: how many commits a request for
 * each tip walks, and a request for all of them.
 *
 * It does what a query does (bitmap/fill.h), but reads no trees.
 */
#ifndef BITMAP_COVERAGE_H
#define BITMAP_COVERAGE_H

#include <stdint.h>

#include "base/error.h"
#include "bitmap/fill.h"
#include "walk/walk.h"

struct bitmap_coverage {
	/* number of different commits */
	uint32_t tip_nr;
	/* commits with a bitmap: requests for them walk 0 commits */
	uint32_t with_bitmap;
	/* commits walked by requests for one tip each: sum, */
	uint64_t walked_sum;
	/* median, the lower one of two, */
	uint32_t walked_median;
	uint32_t walked_max;
	/* commits walked by one request for all tips */
	uint32_t walked_together;
};

/*
 * Measures the commits in `tips`. `fill` is initialised; its content afterwards
 * is undefined. Without tips all numbers are 0. Returns 0, or a negative error
 * code with *coverage zeroed. Each bitmap that a request uses is decoded once
 * per tip.
 */
int bitmap_coverage_measure(struct bitmap_coverage *coverage,
			    struct bitmap_fill *fill,
			    const struct walk_tips *tips, struct error *err);

#endif
