/* SPDX-License-Identifier: MIT */
/*
 * A map from commits to values. With few commits, the map is a hash table. With
 * many commits, the map is a pair of arrays indexed by obj_pos.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "walk/commit-map.h"

/* Number of slots of the hash table when the map is made. */
#define FEW_FIRST 256

int commit_map_init(struct commit_map *map, uint32_t packed_nr)
{
	*map = (struct commit_map){.packed_nr = packed_nr};
	map->few = mem_calloc(FEW_FIRST, sizeof(*map->few));
	if (!map->few)
		return ERR_NOMEM;
	map->few_alloc = FEW_FIRST;
	return 0;
}

void commit_map_release(struct commit_map *map)
{
	free(map->few);
	free(map->by_packed);
	free(map->by_extra);
	*map = (struct commit_map){0};
}

/*
 * Returns the entry of a commit in the hash table. If the table lacks the
 * commit, returns the free entry where the commit belongs.
 */
static struct commit_map_entry *find(const struct commit_map *map,
				     uint32_t obj_pos)
{
	size_t mask = map->few_alloc - 1;
	size_t at = (obj_pos * UINT32_C(2654435761)) >> 7 & mask;

	while (map->few[at].value && map->few[at].obj_pos != obj_pos)
		at = (at + 1) & mask;
	return &map->few[at];
}

/*
 * Returns a pointer to the value of a commit in the arrays by_packed and
 * by_extra. Returns NULL if by_extra is too short for this commit.
 */
static uint32_t *place_of(const struct commit_map *map, uint32_t obj_pos)
{
	if (obj_pos < map->packed_nr)
		return &map->by_packed[obj_pos];
	obj_pos -= map->packed_nr;
	return obj_pos < map->extra_alloc ? &map->by_extra[obj_pos] : NULL;
}

static uint32_t *make_place(struct commit_map *map, uint32_t obj_pos)
{
	uint32_t *place = place_of(map, obj_pos);
	size_t old = map->extra_alloc;

	if (place)
		return place;
	if (mem_grow(&map->by_extra, &map->extra_alloc,
		     (size_t)obj_pos - map->packed_nr + 1,
		     sizeof(*map->by_extra)) < 0)
		return NULL;
	memset(map->by_extra + old, 0,
	       (map->extra_alloc - old) * sizeof(*map->by_extra));
	return place_of(map, obj_pos);
}

static int move_to_places(struct commit_map *map)
{
	map->by_packed = mem_calloc(map->packed_nr, sizeof(*map->by_packed));
	if (!map->by_packed)
		return ERR_NOMEM;
	for (size_t i = 0; i < map->few_alloc; i++) {
		const struct commit_map_entry *entry = &map->few[i];
		uint32_t *place;

		if (!entry->value)
			continue;
		place = make_place(map, entry->obj_pos);
		if (!place) {
			free(map->by_packed);
			map->by_packed = NULL;
			return ERR_NOMEM;
		}
		*place = entry->value;
	}
	free(map->few);
	map->few = NULL;
	return 0;
}

static int grow_few(struct commit_map *map)
{
	struct commit_map old = *map;

	map->few = mem_calloc(2 * old.few_alloc, sizeof(*map->few));
	if (!map->few) {
		map->few = old.few;
		return ERR_NOMEM;
	}
	map->few_alloc *= 2;
	for (size_t i = 0; i < old.few_alloc; i++)
		if (old.few[i].value)
			*find(map, old.few[i].obj_pos) = old.few[i];
	free(old.few);
	return 0;
}

uint32_t commit_map_get(const struct commit_map *map, uint32_t obj_pos)
{
	const uint32_t *place;

	if (map->few)
		return find(map, obj_pos)->value;
	place = place_of(map, obj_pos);
	return place ? *place : 0;
}

uint32_t *commit_map_slot(struct commit_map *map, uint32_t obj_pos)
{
	struct commit_map_entry *entry;
	int ret = 0;

	if (map->few && map->few_nr == COMMIT_MAP_FEW)
		ret = move_to_places(map);
	else if (map->few && map->few_nr >= map->few_alloc / 2)
		ret = grow_few(map);
	if (ret < 0)
		return NULL;
	if (!map->few)
		return make_place(map, obj_pos);
	entry = find(map, obj_pos);
	if (!entry->value) {
		entry->obj_pos = obj_pos;
		map->few_nr++;
	}
	return &entry->value;
}
