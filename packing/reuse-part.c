/* SPDX-License-Identifier: MIT */
/*
 * Maps the bits of one pack's objects to positions in the pack, and old offsets
 * to new ones.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "packing/reuse.h"

/*
 * If there is at least one look-up for each MANY_RATIO objects, the order of
 * the pack (its reverse index) is verified before it is used.
 */
#define MANY_RATIO 16

/*
 * Fill in part->pack_pos. The bits and the entries of the pack are both sorted
 * by offset, so one pass steps through both. Returns 0 on success, 1 if a bit
 * stands for an object that is not an entry of the pack, or ERR_NOMEM.
 */
static int match_bits(struct reuse_part *part, const struct bitmap_space *space,
		      struct error *err)
{
	uint32_t pack_pos = 0, pack_nr = part->pack->idx.nr;

	part->pack_pos = mem_alloc(part->nr, sizeof(*part->pack_pos));
	if (!part->pack_pos)
		return error_nomem(err);
	for (uint32_t i = 0; i < part->nr; i++) {
		uint64_t off;

		bitmap_space_locate(space, part->first + i, &off);
		while (pack_pos < pack_nr &&
		       pack_rev_offset(part->rev, pack_pos) < off)
			pack_pos++;
		if (pack_pos == pack_nr ||
		    pack_rev_offset(part->rev, pack_pos) != off)
			return 1;
		part->pack_pos[i] = pack_pos;
	}
	return 0;
}

int reuse_part_init(struct reuse_part *part, const struct bitmap_space *space,
		    const struct bitmap_space_part *bits, size_t look_ups,
		    struct error *err)
{
	struct pack *pack = bits->pack->pack;
	bool is_many = look_ups >= pack->idx.nr / MANY_RATIO;

	*part = (struct reuse_part){
		.pack = pack,
		.rev = is_many ? pack_get_rev(pack, err)
			       : pack_get_rev_unproven(pack, err),
		.first = bits->first,
		.nr = bits->nr,
	};
	if (!part->rev)
		return ERR_NOMEM;
	if (part->nr > pack->idx.nr)
		return 1;
	return part->nr == pack->idx.nr ? 0 : match_bits(part, space, err);
}

void reuse_part_release(struct reuse_part *part)
{
	free(part->pack_pos);
	free(part->segments);
	*part = (struct reuse_part){0};
}

bool reuse_part_bit(const struct reuse_part *part, uint32_t pack_pos,
		    uint32_t *bit_pos)
{
	uint32_t low = 0, high = part->nr;

	if (!part->pack_pos) {
		*bit_pos = part->first + pack_pos;
		return pack_pos < part->nr;
	}
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (part->pack_pos[mid] < pack_pos)
			low = mid + 1;
		else
			high = mid;
	}
	*bit_pos = part->first + low;
	return low < part->nr && part->pack_pos[low] == pack_pos;
}

int reuse_part_map(struct reuse_part *part, uint64_t in_off, uint64_t out_off)
{
	if (mem_grow(&part->segments, &part->segment_alloc,
		     part->segment_nr + 1, sizeof(*part->segments)) < 0)
		return ERR_NOMEM;
	part->segments[part->segment_nr++] = (struct reuse_segment){
		in_off, in_off - out_off};
	return 0;
}

uint64_t reuse_part_mapped(const struct reuse_part *part, uint64_t in_off)
{
	size_t low = 0, high = part->segment_nr;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (part->segments[mid].in_off <= in_off)
			low = mid;
		else
			high = mid;
	}
	return in_off - part->segments[low].shift;
}
