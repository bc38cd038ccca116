/* SPDX-License-Identifier: MIT */
/*
 * Maps commits (by obj_pos) to values. While the map has few commits, it is a
 * hash table, so that a small request does not touch many pages of memory. With
 * many commits, it is a pair of arrays indexed by obj_pos, so that a walk of a
 * whole history does not search.
 */
#ifndef WALK_COMMIT_MAP_H
#define WALK_COMMIT_MAP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Maximum number of commits in the hash table. With more commits, the arrays
 * are used.
 */
#define COMMIT_MAP_FEW 8192

struct commit_map_entry {
	uint32_t obj_pos;
	uint32_t value; /* 0: no value */
};

struct commit_map {
	/*
	 * number of objects in packs; an object outside packs has an obj_pos of
	 * at least packed_nr
	 */
	uint32_t packed_nr;
	/* owned: the hash table; NULL: the arrays are used */
	struct commit_map_entry *few;
	/*
	 * number of used and of allocated entries of `few`; few_alloc is a
	 * power of two
	 */
	size_t few_nr, few_alloc;
	/* owned: values of packed commits, indexed by obj_pos */
	uint32_t *by_packed;
	/*
	 * owned: values of commits in no pack, indexed by obj_pos - packed_nr
	 */
	uint32_t *by_extra;
	size_t extra_alloc;
};

/*
 * Initialises an empty map. Returns 0 or ERR_NOMEM. After an error, *map is
 * zeroed.
 */
int commit_map_init(struct commit_map *map, uint32_t packed_nr);
void commit_map_release(struct commit_map *map);

/* Returns the value of a commit, or 0 if it has none. */
uint32_t commit_map_get(const struct commit_map *map, uint32_t obj_pos);

/*
 * Returns a pointer to the value of a commit, to which the caller may write. A
 * commit that is not in the map yet is added with the value 0. The pointer is
 * valid until the next call of this function. Returns NULL if memory runs out.
 */
uint32_t *commit_map_slot(struct commit_map *map, uint32_t obj_pos);

#endif
