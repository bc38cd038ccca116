/* SPDX-License-Identifier: MIT */
/*
 * From the bits of one index to those of another over the same objects, in
 * another order: what makes bitmaps of an old index serve a new one.
 *
 * Neighbours mostly stay neighbours, so the mapping is a list of runs:
 *
 *	old bits   0 .... 99 | 100 ... 149 | 150 ... 159 |
 *	new bits   0 .... 99 | 120 ... 169 | none        |
 *
 * It does not mind XOR: the difference of two old bitmaps, mapped, is the
 * difference of the mapped ones.
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
	struct bitmap_run *runs; /* owned; ascending `from`; gaps: objects that
				    the new index does not have */
	size_t run_nr, run_alloc;
	struct bitset is_old;    /* by new bit_pos: the old index has it */
	uint32_t from_nr, to_nr; /* objects of each */
	uint32_t lost;           /* old objects that the new one lacks */
};

/*
 * Compare the ids of both: O(objects). 0 or ERR_NOMEM; release in any case.
 */
int bitmap_remap_init(struct bitmap_remap *map, const struct bitmap_space *from,
		      const struct bitmap_space *to);
void bitmap_remap_release(struct bitmap_remap *map);

/* The new bit of an old one; false: there is none. O(log runs). */
bool bitmap_remap_bit(const struct bitmap_remap *map, uint32_t from,
		      uint32_t *to);

/*
 * Make *to (to_nr bits, is cleared) the old set `from` (from_nr bits). False
 * when that has a bit that is lost. O(words and runs).
 */
bool bitmap_remap_set(const struct bitmap_remap *map, struct bitset *to,
		      const struct bitset *from);

#endif
