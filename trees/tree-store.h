/* SPDX-License-Identifier: MIT */
/*
 * Reads trees as tables of entry numbers (tree-table.c), and keeps tables in a
 * cache.
 *
 * A delta is applied to its base's table, never to the base's bytes. Trees for
 * which this is impossible (not packed, malformed) are read whole by
 * odb_read(). For use by one thread.
 */
#ifndef TREES_TREE_STORE_H
#define TREES_TREE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "pack/base-cache.h"
#include "trees/entry-pool.h"
#include "trees/objspace.h"
#include "trees/tree-splice.h"

/* ---- tables (tree-table.c) */

/*
 * Trees as arrays of entry numbers (entry-pool.h). A table is made from a
 * tree's bytes, or from a delta and the table of its base.
 *
 * tree-splice.h divides a delta into entries. For the entries that a delta
 * copies, the table gets the numbers from the base's table.
 */

struct tree_table {
	/* borrowed: the tree's entries (entry_nr) in the tree's order */
	const uint32_t *entries;
	/* borrowed: the offsets of the entries, as in struct tree_starts */
	const uint32_t *starts;
	uint32_t nr;
};

struct tree_builder {
	struct entry_pool *pool; /* borrowed */
	struct tree_splice splice;
	/* borrowed while a table is made from a delta */
	const struct tree_table *base;
	uint32_t *entries; /* owned */
	size_t nr, alloc;
	/*
	 * Owned: scratch memory of tree_builder_parse_near(), which makes a
	 * delta from a nearly equal tree.
	 */
	struct buf delta;
	/*
	 * waiting[i]: index in `entries` of the i-th entry that waits in the
	 * pool
	 */
	uint32_t waiting[ENTRY_POOL_WAIT_MAX];
};

/* Initialises a builder, which must not be moved in memory afterwards. */
void tree_builder_init(struct tree_builder *b, struct entry_pool *pool,
		       enum hash_algo algo);
void tree_builder_release(struct tree_builder *b);

/*
 * Parses the `len` bytes of a tree object, and makes the table of the tree: one
 * entry number for each entry, in b->entries. Returns 0, ERR_CORRUPT if
 * tree_next() does not accept the bytes, ERR_UNSUPPORTED if there are 4 GiB or
 * more, or ERR_NOMEM.
 */
int tree_builder_parse(struct tree_builder *b, const uint8_t *bytes,
		       size_t len);

/*
 * Makes the same table as tree_builder_parse(), ten times faster, if the tree
 * is nearly equal to a tree whose table `near` is known. Both tables use the
 * same pool. Entries at the start and at the end that are equal in both trees
 * are compared as bytes and not parsed. Returns 0 or an error code of
 * tree_builder_parse().
 */
int tree_builder_parse_near(struct tree_builder *b,
			    const struct tree_table *near, const uint8_t *bytes,
			    size_t len);

/*
 * Makes the table of the tree that results from applying a delta to a base
 * tree. `base` is the table of the base tree, in the same pool. Returns 0 or an
 * error code of tree_builder_parse(). After ERR_CORRUPT, the tree may still be
 * valid, in a form that this function cannot process. The caller must then
 * parse the tree's bytes.
 */
int tree_builder_derive(struct tree_builder *b, const struct tree_table *base,
			const uint8_t *delta, size_t delta_len);

/*
 * Returns the table that was made last. The table points into the builder, and
 * is valid until the next use of the builder.
 */
static inline struct tree_table tree_builder_table(const struct tree_builder *b)
{
	return (struct tree_table){b->entries, b->splice.starts,
				   (uint32_t)b->nr};
}

/* ---- the store */

struct tree_store;

/* A tree in use. Its table stays in the cache until the tree is released. */
struct tree {
	struct tree_table table;
	/*
	 * The node of the cache that keeps `table` in memory, owned by the
	 * store. NULL: this struct has no tree.
	 */
	struct base_cache_node *pin;
};

#define TREE_INIT                                                              \
	{                                                                      \
		{NULL, NULL, 0}, NULL                                          \
	}

/*
 * Makes a store of tree tables.
 *
 * `cache_limit`: maximum number of bytes of the tables that are not in use. If
 * the pool of tree entries (tree_store_pool()) needs more bytes than this
 * number, tree_store_trim() empties the pool.
 *
 * `wants_objects`: the caller asks for the objects of most entries. If
 * objspace_accelerate() has made a look-up table for each pack, the store then
 * looks up the ids of new entries many at a time, which is faster.
 *
 * Returns NULL if memory runs out.
 */
struct tree_store *tree_store_new(struct objspace *space, size_t cache_limit,
				  bool wants_objects);

/* Frees a store of tree tables. All trees must have been released. */
void tree_store_free(struct tree_store *store);

/* Returns the pool that the entry numbers refer to. */
struct entry_pool *tree_store_pool(struct tree_store *store);

/*
 * Reads a tree. `near` is another tree of this store, or NULL. A tree outside
 * packs is read faster if `near` is nearly equal, for example the same
 * directory in a parent commit. Returns 0 or an error code; after an error,
 * *tree is empty. The codes are ERR_MISSING, ERR_CORRUPT ("not a tree object",
 * "malformed tree") or another error of odb_read().
 */
int tree_store_read(struct tree_store *store, uint32_t obj_pos,
		    const struct tree *near, struct tree *tree,
		    struct error *err);

/*
 * Sets *obj_pos to the obj_pos of the object that an entry names. The object is
 * looked up only the first time. Returns 0 or ERR_NOMEM.
 */
int tree_store_object(struct tree_store *store, uint32_t entry_nr,
		      uint32_t *obj_pos);

/* Releases a tree. *tree may be TREE_INIT. */
void tree_store_release(struct tree_store *store, struct tree *tree);

/*
 * If the entries in the pool take more than `cache_limit` bytes, empties the
 * pool and the cache of tables. No tree may be in use during the call. All
 * entry numbers become invalid. Returns 0 or ERR_NOMEM.
 */
int tree_store_trim(struct tree_store *store);

#endif
