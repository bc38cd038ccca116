/* SPDX-License-Identifier: MIT */
/*
 * Trees as arrays of entry numbers (entry-pool.h). A table is made from a
 * tree's bytes, or from a delta and the table of its base.
 *
 * tree-splice.h turns a delta into entries. The entries that a delta copies are
 * copied here as numbers.
 */
#ifndef WALK_TREE_TABLE_H
#define WALK_TREE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/oid.h"
#include "walk/entry-pool.h"
#include "walk/tree-splice.h"

struct tree_table {
	/* borrowed: entry_nr, in the tree's order */
	const uint32_t *entries;
	/* borrowed: as in struct tree_starts */
	const uint32_t *starts;
	uint32_t nr;
};

struct tree_builder {
	struct entry_pool *pool; /* borrowed */
	struct tree_splice splice;
	const struct tree_table *base; /* borrowed while deriving */
	uint32_t *entries;             /* owned */
	size_t nr, alloc;
	/* indexes into `entries` of those that wait in the pool */
	uint32_t waiting[ENTRY_POOL_WAIT_MAX];
};

/* Initialises a builder, which must not be moved in memory afterwards. */
void tree_builder_init(struct tree_builder *b, struct entry_pool *pool,
		       enum hash_algo algo);
void tree_builder_release(struct tree_builder *b);

/*
 * Makes the table of a tree of `len` bytes. Returns 0, ERR_CORRUPT if
 * tree_next() does not accept the bytes, ERR_UNSUPPORTED if there are 4 GiB or
 * more, or ERR_NOMEM.
 */
int tree_builder_parse(struct tree_builder *b, const uint8_t *bytes,
		       size_t len);

/*
 * Makes the table of the tree that a delta makes from `base`, a table of the
 * same pool. Returns like tree_builder_parse(), but ERR_CORRUPT may also mean
 * that this code cannot process a valid tree. The caller must then parse the
 * tree's bytes.
 */
int tree_builder_derive(struct tree_builder *b, const struct tree_table *base,
			const uint8_t *delta, size_t delta_len);

/*
 * Returns the table made last. It points into the builder, and is valid until
 * the builder's next use.
 */
static inline struct tree_table tree_builder_table(const struct tree_builder *b)
{
	return (struct tree_table){b->entries, b->splice.starts,
				   (uint32_t)b->nr};
}

#endif
