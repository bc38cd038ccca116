/* SPDX-License-Identifier: MIT */
/*
 * Applies object filters to sets of bits. The type bitmaps of the index remove
 * whole types. The sizes in the headers of pack entries remove blobs. For a
 * delta, only the first bytes are inflated.
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

/*
 * A filter, and the data that are needed to apply it. All pointers are
 * borrowed.
 */
struct bitmap_filter {
	const struct bitmap_file *file;
	struct bitmap_space space;
	struct walk *w;
	/* the filter to apply; bitmap_filter_can() must be true for it */
	const struct filter *filter;
	/* the wants, which pass the filter unless `filter_wants` is set */
	const struct walk_tips *wants;
	/* the filter applies to the wants too */
	bool filter_wants;
};

/*
 * Removes the objects that do not pass the filter from `packed` (indexed by
 * bit_pos) and *others. Returns 0, or a negative error code with the sets
 * partly filtered.
 */
int bitmap_filter_apply(const struct bitmap_filter *bf, struct bitset *packed,
			struct walk_items *others, struct error *err);

/*
 * `packed` is a set of objects to which a receiver's objects refer. Removes
 * from `packed` the objects that the receiver may lack because of its filter.
 */
void bitmap_filter_undecided(const struct bitmap_file *file,
			     const struct filter *filter,
			     struct bitset *packed);

#endif
