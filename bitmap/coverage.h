/* SPDX-License-Identifier: MIT */
/*
 * How well bitmaps serve some tips: how many commits a request for each of
 * them has to walk, and one for all of them.
 *
 * Found by doing what a query does (bitmap/fill.h), up to where it would look
 * at trees.
 */
#ifndef BITMAP_COVERAGE_H
#define BITMAP_COVERAGE_H

#include <stdint.h>

#include "base/error.h"
#include "bitmap/fill.h"
#include "walk/walk.h"

struct bitmap_coverage {
	uint32_t tip_nr;      /* different commits */
	uint32_t with_bitmap; /* of these: what a request for it walks is 0 */
	uint64_t walked_sum;  /* commits walked by requests for one tip each, */
	uint32_t walked_median; /* the lower one of two, */
	uint32_t walked_max;
	uint32_t walked_together; /* and by one request for all tips */
};

/*
 * Measure the commits among `tips`. `fill` is initialised, and is left with
 * some content. Without tips all is 0. 0 or negative, with *coverage zeroed.
 * Cost: each bitmap that a request would use is decoded once per tip.
 */
int bitmap_coverage_measure(struct bitmap_coverage *coverage,
			    struct bitmap_fill *fill,
			    const struct walk_tips *tips, struct error *err);

#endif
