/* SPDX-License-Identifier: MIT */
/*
 * Lists of objects that a walk or a comparison of trees has found. A list may
 * have an object more than once.
 */
#ifndef TREES_WALK_ITEMS_H
#define TREES_WALK_ITEMS_H

#include <stddef.h>
#include <stdint.h>

#include "object/type.h"

/*
 * An object in a list, and the values that a delta search or the hash cache of
 * a bitmap index needs.
 */
struct walk_item {
	uint32_t obj_pos;
	/* path hash of one of the object's paths; 0 for commits and tags */
	uint32_t name_hash;
	/*
	 * path group (object/path-group.h) of the path that name_hash was
	 * computed from
	 */
	uint32_t group;
	uint8_t type; /* enum object_type */
};

struct walk_items {
	struct walk_item *items; /* owned */
	size_t nr, alloc;
};

/* Appends an object with the path group 0. Returns 0 or ERR_NOMEM. */
int walk_items_append(struct walk_items *list, uint32_t obj_pos,
		      enum object_type type, uint32_t name_hash);

/* Appends a copy of *item. Returns 0 or ERR_NOMEM. */
int walk_items_add(struct walk_items *list, const struct walk_item *item);

#endif
