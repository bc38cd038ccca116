/* SPDX-License-Identifier: MIT */
/*
 * Applies object filters to sets of bits. The type bitmaps remove whole types.
 * The sizes in the headers of pack entries remove blobs. Only the first bytes
 * of deltas are inflated.
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
 * Returns whether a filter can be applied to a set. If not, a walk must find
 * the objects.
 */
bool bitmap_filter_can(const struct filter *filter);

/* The context of a filter. All pointers are borrowed. */
struct bitmap_filter {
	const struct bitmap_file *file;
	struct bitmap_space space;
	struct walk *w;
	/* the filter to apply; bitmap_filter_can() must be true for it */
	const struct filter *filter;
	const struct walk_tips *wants; /* pass the filter, */
	bool filter_wants;             /* unless this is set */
};

/*
 * Removes the objects that do not pass the filter from `packed` (by bit_pos)
 * and *others. Returns 0, or a negative error code with the sets partly
 * filtered.
 */
int bitmap_filter_apply(const struct bitmap_filter *bf, struct bitset *packed,
			struct walk_items *others, struct error *err);

/*
 * `packed` is a set of objects that a receiver has because it has objects that
 * refer to them. Removes those that the receiver may lack because of its
 * filter.
 */
void bitmap_filter_undecided(const struct bitmap_file *file,
			     const struct filter *filter,
			     struct bitset *packed);

#endif
