/* SPDX-License-Identifier: MIT */
/*
 * Applies object filters to sets of bits. Objects of a type are removed by the
 * type bitmaps of the index. Large blobs are removed by the sizes in the
 * headers of their pack entries. If a blob is stored as a delta, its size is in
 * the first bytes of the delta, so only these bytes are inflated.
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
 * Returns whether a filter can be applied to a set of bits: the filter must not
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
	/*
	 * the wants of the request; the filter does not remove them unless
	 * `filter_wants` is set
	 */
	const struct walk_tips *wants;
	/* true: the filter also removes wants that do not pass it */
	bool filter_wants;
};

/*
 * Removes the objects that do not pass the filter from two sets: `packed`, the
 * indexed objects (by bit_pos), and *others, the objects that the index lacks.
 * Returns 0, or a negative error code. After an error, both sets may be
 * filtered in part.
 */
int bitmap_filter_apply(const struct bitmap_filter *bf, struct bitset *packed,
			struct walk_items *others, struct error *err);

/*
 * The receiver fetched with `filter`, so it may lack the objects that the
 * filter omits. Removes these objects from `packed`, the set of all objects
 * that the receiver's commits reach.
 */
void bitmap_filter_undecided(const struct bitmap_file *file,
			     const struct filter *filter,
			     struct bitset *packed);

#endif
