/* SPDX-License-Identifier: MIT */
/*
 * Applies object filters to sets of bits. The type bitmaps of the index remove
 * whole types. Blobs are removed by the sizes in the headers of pack entries.
 * The size of a delta's result is in the delta's first bytes, so only these
 * bytes are inflated.
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
 * Returns whether a filter can be applied to a set of bits, because it does not
 * depend on paths. If false, the objects must be found by a walk.
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
	/* the wants; they stay in the result unless `filter_wants` is set */
	const struct walk_tips *wants;
	/* whether the filter applies to the wants too */
	bool filter_wants;
};

/*
 * Applies the filter: removes the objects that do not pass from `packed`
 * (indexed by bit_pos) and from *others, the objects that the index lacks.
 * Returns 0, or a negative error code. After an error, both sets may be
 * filtered in part.
 */
int bitmap_filter_apply(const struct bitmap_filter *bf, struct bitset *packed,
			struct walk_items *others, struct error *err);

/*
 * Removes from `packed` those objects that a receiver may lack because the
 * receiver fetched with this filter. The caller has filled `packed` with all
 * objects that the receiver's commits reach.
 */
void bitmap_filter_undecided(const struct bitmap_file *file,
			     const struct filter *filter,
			     struct bitset *packed);

#endif
