/* SPDX-License-Identifier: MIT */
/*
 * From the obj_pos of commits to their numbers. Few are kept in a hash table,
 * so that a small request does not touch a page of memory for each of them;
 * many by obj_pos, so that a walk of all history does not search.
 */
#ifndef WALK_COMMIT_MAP_H
#define WALK_COMMIT_MAP_H

#include <stddef.h>
#include <stdint.h>

/* As many commits are few. */
#define COMMIT_MAP_FEW 8192

struct commit_map_entry {
	uint32_t obj_pos;
	uint32_t value; /* 0: there is none */
};

struct commit_map {
	uint32_t packed_nr;           /* first obj_pos outside packs */
	struct commit_map_entry *few; /* owned; NULL: they are many */
	size_t few_nr, few_alloc;     /* the latter a power of two */
	uint32_t *by_packed;          /* owned: value by obj_pos */
	uint32_t *by_extra;           /* owned: the same past packed_nr */
	size_t extra_alloc;
};

/* Empty. 0, or ERR_NOMEM with *map zeroed. */
int commit_map_init(struct commit_map *map, uint32_t packed_nr);
void commit_map_release(struct commit_map *map);

/* The value of a commit; 0: it has none. */
uint32_t commit_map_get(const struct commit_map *map, uint32_t obj_pos);

/*
 * Where the value of a commit is kept, for it to be set; 0 when it has none.
 * Valid until the next call. NULL: out of memory.
 */
uint32_t *commit_map_slot(struct commit_map *map, uint32_t obj_pos);

#endif
