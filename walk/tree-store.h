/* SPDX-License-Identifier: MIT */
/*
 * Reads trees as tables of entry numbers (tree-table.h), and keeps tables in a
 * cache.
 *
 * A delta is applied to its base's table, never to the base's bytes. Trees for
 * which this is impossible (not packed, malformed) are read whole by
 * odb_read(). One thread.
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

/* A tree in use; its table stays in the cache until the tree is released. */
struct tree {
	struct tree_table table;
	/* belongs to the store; NULL: no tree */
	struct base_cache_node *pin;
};

#define TREE_INIT                                                              \
	{                                                                      \
		{NULL, NULL, 0}, NULL                                          \
	}

/*
 * Makes a store. `cache_limit`: bytes of tables that are not in use, and as
 * many bytes of entries. `wants_objects`: the caller asks for the objects of
 * most entries, so new entries are looked up together if that is cheap. Returns
 * NULL if memory runs out.
 */
struct tree_store *tree_store_new(struct objspace *space, size_t cache_limit,
				  bool wants_objects);

/* Frees a store. All trees must have been released. */
void tree_store_free(struct tree_store *store);

/* Returns the pool that the entry numbers refer to. */
struct entry_pool *tree_store_pool(struct tree_store *store);

/*
 * Reads a tree. Returns 0, or with *tree empty: ERR_MISSING, ERR_CORRUPT ("not
 * a tree object", "malformed tree") or another error of odb_read().
 */
int tree_store_read(struct tree_store *store, uint32_t obj_pos,
		    struct tree *tree, struct error *err);

/*
 * Sets *obj_pos to the number of an entry's object, which is looked up only
 * once. Returns 0 or ERR_NOMEM.
 */
int tree_store_object(struct tree_store *store, uint32_t entry_nr,
		      uint32_t *obj_pos);

/* Releases a tree; an empty one is accepted. */
void tree_store_release(struct tree_store *store, struct tree *tree);

/*
 * Empties the cache and the pool if the entries exceed the limit. No tree may
 * be in use, and all entry numbers become invalid. Returns 0 or ERR_NOMEM.
 */
int tree_store_trim(struct tree_store *store);

#endif
