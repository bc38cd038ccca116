/* SPDX-License-Identifier: MIT */
/*
 * Converts the bitmaps of an older index to the bits of a new index.
 *
 * The closure of a commit never changes, so stored bitmaps stay right. Only the
 * positions of the bits change (remap.c). Entries keep their order and
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
#include "bitmap/space.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

/* ---- mapping the bits of one index to those of another */

/*
 * Maps the bits of one index to those of another index, which has the objects
 * in another order. So bitmaps of an old index can be used in a new one.
 *
 * Neighbours mostly stay neighbours, so the mapping is a list of runs:
 *
 * 	old bits   0 .... 99 | 100 ... 149 | 150 ... 159 |
 * 	new bits   0 .... 99 | 120 ... 169 | none        |
 *
 * The mapping works with XORs too: the mapped XOR of two bitmaps is the XOR of
 * the two mapped bitmaps.
 */

/* Bits [from, from + nr) become [to, to + nr). */
struct bitmap_run {
	uint32_t from, to, nr;
};

struct bitmap_remap {
	/* owned; ascending `from`; objects in gaps are not in the new index */
	struct bitmap_run *runs;
	size_t run_nr, run_alloc;
	/* by new bit_pos: the old index has the object */
	struct bitset is_old;
	/* number of objects of each index */
	uint32_t from_nr, to_nr;
	/* number of old objects that the new index lacks */
	uint32_t lost;
};

/*
 * Compares the ids of both indexes. Returns 0 or ERR_NOMEM. The caller releases
 * *map in any case. O(objects).
 */
int bitmap_remap_init(struct bitmap_remap *map, const struct bitmap_space *from,
		      const struct bitmap_space *to);
void bitmap_remap_release(struct bitmap_remap *map);

/* Maps an old bit. Returns false if it has no new bit. O(log runs). */
bool bitmap_remap_bit(const struct bitmap_remap *map, uint32_t from,
		      uint32_t *to);

/*
 * Maps the old set `from` (from_nr bits) to *to (to_nr bits, cleared first).
 * Returns false if `from` contains an object that the new index lacks. O(words
 * and runs).
 */
bool bitmap_remap_set(const struct bitmap_remap *map, struct bitset *to,
		      const struct bitset *from);

/* ---- the converted bitmaps */

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
