/* SPDX-License-Identifier: MIT */
/*
 * One pack of those that runs are copied from: which of its objects have bits,
 * and where what was copied has gone.
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
 * From `in_off` on (until the next one), bytes of the pack go to offsets that
 * are `shift` smaller in the new pack. Unsigned arithmetic may wrap: headers
 * can grow.
 */
struct reuse_segment {
	uint64_t in_off;
	uint64_t shift;
};

struct reuse_part {
	const struct pack *pack;    /* borrowed */
	const struct pack_rev *rev; /* borrowed from the pack */
	uint32_t first, nr;         /* bit_pos [first, first + nr) */
	uint32_t *pack_pos;         /* owned: by bit - first; NULL: every object
				       of the pack has a bit */
	struct reuse_segment *segments; /* owned; ascending in_off */
	size_t segment_nr, segment_alloc;
};

/*
 * Returns 0; 1 when what the space says of the pack cannot be: nothing is
 * copied from it then; or ERR_NOMEM. O(objects of the pack), unless all have
 * bits and `look_ups` are few next to them.
 */
int reuse_part_init(struct reuse_part *part, const struct bitmap_space *space,
		    const struct bitmap_space_part *bits, size_t look_ups,
		    struct error *err);
void reuse_part_release(struct reuse_part *part);

/* The place of a bit's object in the pack. */
static inline uint32_t reuse_part_pack_pos(const struct reuse_part *part,
					   uint32_t bit_pos)
{
	uint32_t i = bit_pos - part->first;

	return part->pack_pos ? part->pack_pos[i] : i;
}

/* The bit of an object of the pack; false: it has none. O(log nr) or O(1). */
bool reuse_part_bit(const struct reuse_part *part, uint32_t pack_pos,
		    uint32_t *bit_pos);

/* Note that bytes from `in_off` on go to `out_off`. 0 or ERR_NOMEM. */
int reuse_part_map(struct reuse_part *part, uint64_t in_off, uint64_t out_off);

/* Where an entry that was copied begins in the new pack. */
uint64_t reuse_part_mapped(const struct reuse_part *part, uint64_t in_off);

#endif
