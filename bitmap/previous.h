/* SPDX-License-Identifier: MIT */
/*
 * The bitmaps of an older index, in the bits of a new one.
 *
 * What a commit reaches never changes, so what is stored stays right; only its
 * bits have moved (bitmap/remap.h). Entries stay in their order with the same
 * XOR offsets, and none is decoded to the end: the cost is that of reading the
 * file, however many bits a bitmap has.
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
	const struct bitmap_space *to;   /* borrowed: of the new index */
	struct bitmap_remap map;
	struct bitmap_built *entries; /* owned: in the order of the file, new
					 bits */
	size_t nr;
	struct bitmap_built_group *groups; /* owned: pseudo-merges */
	size_t group_nr;
};

/*
 * Read and map everything. Returns 0; 1 when it cannot serve: the new index
 * lacks an object that a bitmap has, or the old one is malformed; or
 * ERR_NOMEM. Commits are added to the walk's history, not parsed. Release in
 * any case.
 */
int bitmap_previous_load(struct bitmap_previous *previous,
			 const struct bitmap_file *file,
			 const struct bitmap_space *from,
			 const struct bitmap_space *to, struct walk *w,
			 struct error *err);
void bitmap_previous_release(struct bitmap_previous *previous);

/*
 * Note what the old index knows of objects: types by new bit_pos, hashes by new
 * idx_pos (NULL: not wanted). 0 or ERR_NOMEM.
 */
int bitmap_previous_note(const struct bitmap_previous *previous, uint8_t *types,
			 uint32_t *hash_cache);

#endif
