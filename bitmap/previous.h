/* SPDX-License-Identifier: MIT */
/*
 * Converts the bitmaps of an older index to the bits of a new index.
 *
 * The closure of a commit never changes. So a new index can have the bitmaps of
 * an older one; only the positions of their bits are different (remap.c).
 * Entries keep their order and their XOR offsets, and no XOR chain is decoded.
 * So the cost is that of reading the file, however many bits are set.
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
 * Objects that are neighbours in one index usually are neighbours in the other.
 * So the mapping is a list of ranges (runs):
 *
 *	old bits   0 .... 99 | 100 ... 149 | 150 ... 159 |
 *	new bits   0 .... 99 | 120 ... 169 | none        |
 *
 * An XOR of two bitmaps can be mapped without decoding: the result is the XOR
 * of the two mapped bitmaps.
 */

/*
 * A run of the mapping: old bits [from, from + nr) become new bits [to, to +
 * nr).
 */
struct bitmap_run {
	uint32_t from, to, nr;
};

struct bitmap_remap {
	/*
	 * Owned: ranges of old bits that become ranges of new bits, by
	 * ascending `from`. Old bits between the ranges have no new bit,
	 * because the new index lacks the objects.
	 */
	struct bitmap_run *runs;
	size_t run_nr, run_alloc;
	/* indexed by new bit_pos: whether the old index has the object */
	struct bitset is_old;
	/* numbers of objects in the old and in the new index */
	uint32_t from_nr, to_nr;
	/* number of objects that only the old index has */
	uint32_t lost;
};

/*
 * Makes the mapping by comparing the ids of both indexes. Returns 0 or
 * ERR_NOMEM. The caller releases *map in any case. O(objects).
 */
int bitmap_remap_init(struct bitmap_remap *map, const struct bitmap_space *from,
		      const struct bitmap_space *to);
void bitmap_remap_release(struct bitmap_remap *map);

/*
 * Sets *to to the new bit of the old bit `from`. Returns false if the new index
 * lacks the object. O(log runs).
 */
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
	const struct bitmap_file *file; /* borrowed */
	/* borrowed: what the bits of `file` stand for */
	const struct bitmap_space *from;
	/* borrowed: what the bits of the new index stand for */
	const struct bitmap_space *to;
	struct bitmap_remap map;
	/*
	 * owned: the old bitmaps, converted to the bits of the new index, in
	 * the order of the old file
	 */
	struct bitmap_built *entries;
	size_t nr;
	/* owned: the converted pseudo-merges */
	struct bitmap_built_group *groups;
	size_t group_nr;
};

/*
 * Reads and converts all bitmaps. Returns 0 on success, 1 if the old index is
 * unusable, or ERR_NOMEM. The index is unusable if it is malformed, or if the
 * new index lacks an object of a bitmap. The commits with bitmaps are added to
 * the walk's history but not parsed. The caller releases *previous in any case.
 */
int bitmap_previous_load(struct bitmap_previous *previous,
			 const struct bitmap_file *file,
			 const struct bitmap_space *from,
			 const struct bitmap_space *to, struct walk *w,
			 struct error *err);
void bitmap_previous_release(struct bitmap_previous *previous);

/*
 * Copies the types and path hashes of objects from the old index. For each
 * object that both indexes have, sets types[bit_pos] and hash_cache[idx_pos].
 * bit_pos and idx_pos are the positions of the object in the new index.
 * `hash_cache` may be NULL. Returns 0 or ERR_NOMEM.
 */
int bitmap_previous_note(const struct bitmap_previous *previous, uint8_t *types,
			 uint32_t *hash_cache);

#endif
