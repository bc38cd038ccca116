/* SPDX-License-Identifier: MIT */
/*
 * Converts the bitmaps of an older index to the bits of a new index.
 *
 * The closure of a commit never changes, so stored bitmaps stay right. Only the
 * positions of the bits change (bitmap/remap.h). Entries keep their order and
 * their XOR offsets, and no XOR chain is decoded. So the cost is that of
 * reading the file, for any number of bits.
 */
#ifndef BITMAP_PREVIOUS_H
#define BITMAP_PREVIOUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/build.h"
#include "bitmap/file.h"
#include "bitmap/remap.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

struct bitmap_previous {
	const struct bitmap_file *file;  /* borrowed */
	const struct bitmap_space *from; /* borrowed: of the file */
	/* borrowed: of the new index */
	const struct bitmap_space *to;
	struct bitmap_remap map;
	/* owned: in the order of the file, with new bits */
	struct bitmap_built *entries;
	size_t nr;
	struct bitmap_built_group *groups; /* owned: pseudo-merges */
	size_t group_nr;
};

/*
 * Reads and converts all bitmaps. Returns 0, 1 if the old index is unusable, or
 * ERR_NOMEM. The index is unusable if it is malformed, or if the new index
 * lacks an object of a bitmap. Commits are added to the walk's history but not
 * parsed. The caller releases *previous in any case.
 */
int bitmap_previous_load(struct bitmap_previous *previous,
			 const struct bitmap_file *file,
			 const struct bitmap_space *from,
			 const struct bitmap_space *to, struct walk *w,
			 struct error *err);
void bitmap_previous_release(struct bitmap_previous *previous);

/*
 * Copies facts about objects from the old index: types by new bit_pos, and path
 * hashes by new idx_pos (NULL: not wanted). Returns 0 or ERR_NOMEM.
 */
int bitmap_previous_note(const struct bitmap_previous *previous, uint8_t *types,
			 uint32_t *hash_cache);

#endif
