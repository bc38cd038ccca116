/* SPDX-License-Identifier: MIT */
/*
 * Open addressing with linear probing. At least half of the slots are free, so
 * every probe ends. Entries are never removed.
 */
#include <sys/auxv.h>

#include "base/error.h"
#include "base/mem.h"
#include "object/oidmap.h"
#include "base/splitmix.h"

enum { SLOT_NR_MIN = 16 };

/*
 * Returns the slot of `oid`. If the map lacks `oid`, returns the free slot
 * where it belongs.
 */
static struct oidmap_entry *find_slot(const struct oidmap *map,
				      const struct oid *oid)
{
	size_t mask = map->slot_nr - 1;

	for (size_t i = oidhash_of(&map->hash, oid) & mask;;
	     i = (i + 1) & mask) {
		struct oidmap_entry *e = &map->slots[i];

		if (!e->used || oid_equal(&e->oid, oid))
			return e;
	}
}

/*
 * Makes room for one more entry of the map. This may double the number of
 * slots. Returns 0 or ERR_NOMEM.
 */
static int grow(struct oidmap *map)
{
	struct oidmap bigger = OIDMAP_INIT;

	if (map->nr < map->slot_nr / 2)
		return 0;
	bigger.slot_nr = SLOT_NR_MIN;
	if (map->slot_nr && !mem_mul(&bigger.slot_nr, map->slot_nr, 2))
		return ERR_NOMEM;
	bigger.slots = mem_calloc(bigger.slot_nr, sizeof(*bigger.slots));
	if (!bigger.slots)
		return ERR_NOMEM;
	bigger.nr = map->nr;
	bigger.hash = map->hash;
	if (!map->slot_nr)
		oidhash_init(&bigger.hash);
	for (size_t i = 0; i < map->slot_nr; i++)
		if (map->slots[i].used)
			*find_slot(&bigger, &map->slots[i].oid) = map->slots[i];
	free(map->slots);
	*map = bigger;
	return 0;
}

void oidmap_release(struct oidmap *map)
{
	free(map->slots);
	*map = (struct oidmap)OIDMAP_INIT;
}

bool oidmap_get(const struct oidmap *map, const struct oid *oid,
		uint32_t *value)
{
	const struct oidmap_entry *e;

	if (!map->nr)
		return false;
	e = find_slot(map, oid);
	if (!e->used)
		return false;
	*value = e->value;
	return true;
}

int oidmap_add(struct oidmap *map, const struct oid *oid, uint32_t value,
	       uint32_t *existing)
{
	struct oidmap_entry *e;

	if (grow(map) < 0)
		return ERR_NOMEM;
	e = find_slot(map, oid);
	if (e->used) {
		if (existing)
			*existing = e->value;
		return 0;
	}
	e->oid = *oid;
	e->value = value;
	e->used = true;
	map->nr++;
	return 1;
}

int oidmap_put(struct oidmap *map, const struct oid *oid, uint32_t value)
{
	int ret = oidmap_add(map, oid, value, NULL);

	if (ret < 0)
		return ret;
	if (!ret)
		find_slot(map, oid)->value = value;
	return 0;
}

/*
 * Sets the key of this process. The kernel gives every process 16 random bytes,
 * without a system call. If they are missing, the key is made from the address
 * of the stack, which the kernel randomises.
 */
void oidhash_init(struct oidhash *hash)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t seed[2] = {(uintptr_t)&seed, (uintptr_t)hash};

	if (random)
		memcpy(seed, random, sizeof(seed));
	for (int i = 0; i < 4; i++)
		hash->key[i] = splitmix_next(&seed[0]) ^
			       splitmix_next(&seed[1]);
}
