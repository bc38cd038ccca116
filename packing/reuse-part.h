/* SPDX-License-Identifier: MIT */
/*
 * One of the packs that runs are copied from: which of its objects have bits,
 * and where the copied bytes are in the new pack.
 */
#ifndef PACKING_REUSE_PART_H
#define PACKING_REUSE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/space.h"
#include "pack/pack.h"

/*
 * Bytes of the pack from `in_off` up to the next segment go to offsets that are
 * smaller by `shift` in the new pack. `shift` may wrap around, because headers
 * can grow.
 */
struct reuse_segment {
	uint64_t in_off;
	uint64_t shift;
};

struct reuse_part {
	const struct pack *pack;    /* borrowed */
	const struct pack_rev *rev; /* borrowed from the pack */
	/* bit_pos [first, first + nr) */
	uint32_t first, nr;
	/*
	 * Owned: by bit_pos - first; NULL: each object of the pack has a bit.
	 */
	uint32_t *pack_pos;
	struct reuse_segment *segments; /* owned; ascending in_off */
	size_t segment_nr, segment_alloc;
};

/*
 * Prepare a part for about `look_ups` look-ups. Returns 0, 1 if the bit space
 * contradicts the pack (copy nothing from the pack), or ERR_NOMEM. Cost:
 * O(objects of the pack), less if all objects have bits and look-ups are few.
 */
int reuse_part_init(struct reuse_part *part, const struct bitmap_space *space,
		    const struct bitmap_space_part *bits, size_t look_ups,
		    struct error *err);
void reuse_part_release(struct reuse_part *part);

/* The pack_pos of a bit's object. */
static inline uint32_t reuse_part_pack_pos(const struct reuse_part *part,
					   uint32_t bit_pos)
{
	uint32_t i = bit_pos - part->first;

	return part->pack_pos ? part->pack_pos[i] : i;
}

/*
 * Find the bit of an object of the pack. Returns false if it has none. Cost:
 * O(log nr) or O(1).
 */
bool reuse_part_bit(const struct reuse_part *part, uint32_t pack_pos,
		    uint32_t *bit_pos);

/* Note that bytes from `in_off` on go to `out_off`. Returns 0 or ERR_NOMEM. */
int reuse_part_map(struct reuse_part *part, uint64_t in_off, uint64_t out_off);

/* The offset in the new pack of a copied entry. */
uint64_t reuse_part_mapped(const struct reuse_part *part, uint64_t in_off);

#endif
