/* SPDX-License-Identifier: MIT */
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
#ifndef BITMAP_REMAP_H
#define BITMAP_REMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/space.h"
#include "ewah/bitset.h"

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

#endif
