/* SPDX-License-Identifier: MIT */
/*
 * A set of damaged copies, each given by its pack and offset: a hash table with
 * open addressing, at most half full.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "odb/bad-copies.h"

#define SLOT_NR_MIN 16

void bad_copies_reset(struct bad_copies *set)
{
	free(set->slots);
	*set = (struct bad_copies){0};
}

/*
 * Returns the slot of the copy. If the copy is not in the set, returns the free
 * slot for it.
 */
static struct bad_copy *slot_of(const struct bad_copies *set,
				const struct pack *pack, uint64_t offset)
{
	uint64_t hash = ((uintptr_t)pack ^ offset) *
			UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(hash >> 32) & (set->slot_nr - 1);

	while (set->slots[at].pack &&
	       (set->slots[at].pack != pack || set->slots[at].offset != offset))
		at = (at + 1) & (set->slot_nr - 1);
	return &set->slots[at];
}

struct bad_copy *bad_copies_find(const struct bad_copies *set,
				 const struct pack *pack, uint64_t offset)
{
	struct bad_copy *slot;

	if (!set->nr)
		return NULL;
	slot = slot_of(set, pack, offset);
	return slot->pack ? slot : NULL;
}

static int grow(struct bad_copies *set)
{
	size_t slot_nr = set->slot_nr ? 2 * set->slot_nr : SLOT_NR_MIN;
	struct bad_copies larger = {
		.slots = mem_calloc(slot_nr, sizeof(*larger.slots)),
		.slot_nr = slot_nr,
		.nr = set->nr,
	};

	if (!larger.slots)
		return -1;
	for (size_t i = 0; i < set->slot_nr; i++) {
		const struct bad_copy *slot = &set->slots[i];

		if (slot->pack)
			*slot_of(&larger, slot->pack, slot->offset) = *slot;
	}
	free(set->slots);
	*set = larger;
	return 0;
}

struct bad_copy *bad_copies_add(struct bad_copies *set, const struct pack *pack,
				uint64_t offset)
{
	struct bad_copy *slot = bad_copies_find(set, pack, offset);

	if (slot)
		return slot;
	if (2 * (set->nr + 1) > set->slot_nr && grow(set) < 0)
		return NULL;
	slot = slot_of(set, pack, offset);
	*slot = (struct bad_copy){.pack = pack, .offset = offset};
	set->nr++;
	return slot;
}
