/* SPDX-License-Identifier: MIT */
/*
 * Object filters on sets of bits: whole types by the type bitmaps, blobs by
 * the sizes in their pack entries' headers. Nothing is inflated but the first
 * bytes of deltas.
 */
#ifndef BITMAP_BIT_FILTER_H
#define BITMAP_BIT_FILTER_H

#include <stdbool.h>

#include "base/error.h"
#include "bitmap/file.h"
#include "bitmap/fill.h"
#include "ewah/bitset.h"
#include "walk/filter.h"
#include "walk/walk.h"

/*
 * Whether a filter can be applied to a set; otherwise the objects have to be
 * found by walking.
 */
bool bitmap_filter_can(const struct filter *filter);

/* What a filter is applied to. All borrowed. */
struct bitmap_filter {
	const struct bitmap_file *file;
	struct bitmap_space space;
	struct walk *w;
	const struct filter *filter;   /* bitmap_filter_can() */
	const struct walk_tips *wants; /* pass in any case, */
	bool filter_wants;             /*   but with this */
};

/*
 * Drop from `packed` (by bit_pos) and *others what does not pass. 0 or
 * negative, with the sets in between.
 */
int bitmap_filter_apply(const struct bitmap_filter *bf, struct bitset *packed,
			struct walk_items *others, struct error *err);

/*
 * Drop from `packed` what a receiver that asks with this filter may not have
 * even where it has what refers to it.
 */
void bitmap_filter_doubt(const struct bitmap_file *file,
			 const struct filter *filter, struct bitset *packed);

#endif
