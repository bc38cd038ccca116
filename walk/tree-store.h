/* SPDX-License-Identifier: MIT */
/*
 * Trees by number, decoded to tables (tree-table.h) and kept while there is
 * room.
 *
 * A delta is applied to its base's table, never to its bytes. Trees for which
 * that will not do (not packed, malformed) are read whole, by odb_read().
 * One thread.
 */
#ifndef WALK_TREE_STORE_H
#define WALK_TREE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "pack/base-cache.h"
#include "walk/entry-pool.h"
#include "walk/objspace.h"
#include "walk/tree-table.h"

struct tree_store;

/* A tree in use. */
struct tree {
	struct tree_table table;
	struct base_cache_node *pin; /* the store's; NULL: no tree */
};

#define TREE_INIT                                                              \
	{                                                                      \
		{NULL, NULL, 0}, NULL                                          \
	}

/*
 * `cache_limit`: bytes of tables that are not in use, and as many again of
 * entries. `wants_objects`: most entries' objects will be asked for, so they
 * are looked up together where that is cheap. NULL when out of memory.
 */
struct tree_store *tree_store_new(struct objspace *space, size_t cache_limit,
				  bool wants_objects);

/* All trees must have been released. */
void tree_store_free(struct tree_store *store);

/* The numbers in the tables. */
struct entry_pool *tree_store_pool(struct tree_store *store);

/*
 * Read a tree. 0; or ERR_MISSING, ERR_CORRUPT ("not a tree object",
 * "malformed tree") or another error of odb_read(), with *tree empty.
 */
int tree_store_read(struct tree_store *store, uint32_t obj_pos,
		    struct tree *tree, struct error *err);

/* The number of an entry's object: looked up once. 0 or ERR_NOMEM. */
int tree_store_object(struct tree_store *store, uint32_t entry_nr,
		      uint32_t *obj_pos);

/* Let go of a tree; an empty one is accepted. */
void tree_store_release(struct tree_store *store, struct tree *tree);

/*
 * Forget all when the entries are more than the limit. To be called between
 * two pieces of work: no tree may be in use, and entry numbers end.
 */
int tree_store_trim(struct tree_store *store);

#endif
