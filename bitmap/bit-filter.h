/* SPDX-License-Identifier: MIT */
/*
 * Applies object filters to sets of bits: whole types by the type bitmaps, and
 * blobs by the sizes in their pack entries' headers. Nothing is inflated but
 * the first bytes of deltas.
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
 * Returns whether a filter can be applied to a set. Otherwise a walk has to
 * find the objects.
 */
bool bitmap_filter_can(const struct filter *filter);

/* The context of a filter. All pointers are borrowed. */
struct bitmap_filter {
	const struct bitmap_file *file;
	struct bitmap_space space;
	struct walk *w;
	/* must satisfy bitmap_filter_can() */
	const struct filter *filter;
	const struct walk_tips *wants; /* pass the filter, */
	bool filter_wants;             /* unless this is set */
};

/*
 * Removes the objects that do not pass from `packed` (by bit_pos) and *others.
 * Returns 0, or a negative error code with the sets partly filtered.
 */
int bitmap_filter_apply(const struct bitmap_filter *bf, struct bitset *packed,
			struct walk_items *others, struct error *err);

/*
 * Removes the objects that a receiver with this filter may lack, even if it has
 * objects that refer to them. `packed` is a set of objects the receiver is
 * assumed to have.
 */
void bitmap_filter_doubt(const struct bitmap_file *file,
			 const struct filter *filter, struct bitset *packed);

#endif
