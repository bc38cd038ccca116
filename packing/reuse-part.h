/* SPDX-License-Identifier: MIT */
/*
 * One pack of a bit space, and how runs of its objects are copied to a new
 * pack. A part stores which objects of the pack have bits, and where the copied
 * bytes are in the new pack.
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
 * Bytes of a pack that are copied to the new pack without a gap, from the
 * offset `in_off` to the next segment. An offset `off` of the pack becomes `off
 * - shift` in the new pack, modulo 2^64: new headers can be longer, so the new
 * offset may be larger than the old one.
 */
struct reuse_segment {
	uint64_t in_off;
	uint64_t shift;
};

struct reuse_part {
	const struct pack *pack;    /* borrowed */
	const struct pack_rev *rev; /* borrowed from the pack */
	/* The bits of this part are the bit_pos in [first, first + nr). */
	uint32_t first, nr;
	/*
	 * Owned: pack_pos, indexed by bit_pos - first. NULL: each object of the
	 * pack has a bit, so that pack_pos is bit_pos - first.
	 */
	uint32_t *pack_pos;
	/* owned: sorted by in_off, ascending */
	struct reuse_segment *segments;
	size_t segment_nr, segment_alloc;
};

/*
 * Prepare the part of one pack for about `look_ups` look-ups. Returns 0 if the
 * part is ready, 1 if the bit space contradicts the pack (copy nothing from the
 * pack), or ERR_NOMEM. Cost: O(objects of the pack); less if all objects have
 * bits and look-ups are few.
 */
int reuse_part_init(struct reuse_part *part, const struct bitmap_space *space,
		    const struct bitmap_space_part *bits, size_t look_ups,
		    struct error *err);
void reuse_part_release(struct reuse_part *part);

/* Returns the pack_pos of the object that a bit stands for. */
static inline uint32_t reuse_part_pack_pos(const struct reuse_part *part,
					   uint32_t bit_pos)
{
	uint32_t i = bit_pos - part->first;

	return part->pack_pos ? part->pack_pos[i] : i;
}

/*
 * Find the bit of an object of the pack. Returns false if the object has no
 * bit. Cost: O(log nr) or O(1).
 */
bool reuse_part_bit(const struct reuse_part *part, uint32_t pack_pos,
		    uint32_t *bit_pos);

/*
 * Start a segment: bytes of the pack from `in_off` on are copied to `out_off`
 * of the new pack, without a gap. Call this function after each gap. The new
 * segment may have the same shift as the one before it, because a header that
 * grew can make up for a gap of the same length. Returns 0 or ERR_NOMEM.
 */
int reuse_part_map(struct reuse_part *part, uint64_t in_off, uint64_t out_off);

/* Returns the offset in the new pack of an entry that was copied. */
uint64_t reuse_part_mapped(const struct reuse_part *part, uint64_t in_off);

#endif
