/* SPDX-License-Identifier: MIT */
/*
 * Ordered sets of object ids. An array holds the ids in order of arrival. A
 * hash table with open addressing and linear probing holds indexes into the
 * array; at least half of its slots are free. Slots hold indexes and not ids,
 * so that the table is small: a request for all refs touches several hundred
 * fewer memory pages.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "wire/oidset.h"

enum { SLOT_NR_MIN = 16 };

void oidset_init(struct oidset *set, size_t max)
{
	*set = (struct oidset){.max = max};
}

void oidset_release(struct oidset *set)
{
	free(set->slots);
	free(set->oids);
	oidset_init(set, set->max);
}

/* Returns the slot of an id, or the free slot in which to put the id. */
static uint32_t *find_slot(const struct oidset *set, const struct oid *oid)
{
	size_t mask = set->slot_nr - 1;

	for (size_t i = oidhash_of(&set->hash, oid) & mask;;
	     i = (i + 1) & mask) {
		uint32_t *slot = &set->slots[i];

		if (!*slot || oid_equal(&set->oids[*slot - 1], oid))
			return slot;
	}
}

/* Make room for one more id. Returns 0 or ERR_NOMEM. */
static int grow_slots(struct oidset *set)
{
	size_t nr = set->slot_nr ? set->slot_nr * 2 : SLOT_NR_MIN;
	uint32_t *slots;

	if (set->nr < set->slot_nr / 2)
		return 0;
	slots = mem_calloc(nr, sizeof(*slots));
	if (!slots)
		return ERR_NOMEM;
	if (!set->slot_nr)
		oidhash_init(&set->hash);
	free(set->slots);
	set->slots = slots;
	set->slot_nr = nr;
	for (size_t i = 0; i < set->nr; i++)
		*find_slot(set, &set->oids[i]) = (uint32_t)i + 1;
	return 0;
}

int oidset_add(struct oidset *set, const struct oid *oid, struct error *err)
{
	if (oidset_has(set, oid))
		return 0;
	if (set->nr >= set->max)
		return error_set(err, ERR_PEER, "too many object ids");
	if (grow_slots(set) < 0 ||
	    mem_grow(&set->oids, &set->alloc, set->nr + 1, sizeof(*oid)) < 0)
		return error_nomem(err);
	set->oids[set->nr++] = *oid;
	*find_slot(set, oid) = (uint32_t)set->nr;
	return 1;
}

bool oidset_has(const struct oidset *set, const struct oid *oid)
{
	return set->nr && *find_slot(set, oid);
}
