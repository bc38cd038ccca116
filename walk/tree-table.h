/* SPDX-License-Identifier: MIT */
/*
 * Trees as arrays of entry numbers (entry-pool.h), made from a tree's bytes or
 * from a delta against a tree that is a table already.
 *
 * How a delta is told in terms of entries: tree-splice.h. What it copies is
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
	const uint32_t *entries; /* borrowed: entry_nr, in the tree's order */
	const uint32_t *starts;  /* borrowed: as struct tree_starts has them */
	uint32_t nr;
};

struct tree_builder {
	struct entry_pool *pool; /* borrowed */
	struct tree_splice splice;
	const struct tree_table *base; /* borrowed, while deriving */
	uint32_t *entries;             /* owned */
	size_t nr, alloc;
	uint32_t waiting[ENTRY_POOL_WAIT_MAX]; /* places in `entries` of those
						  that wait in the pool */
};

/* The builder stays where it is. */
void tree_builder_init(struct tree_builder *b, struct entry_pool *pool,
		       enum hash_algo algo);
void tree_builder_release(struct tree_builder *b);

/*
 * Make the table of the `len` bytes of a tree. Returns 0, ERR_CORRUPT when
 * tree_next() does not accept them, ERR_UNSUPPORTED when they are 4 GiB or
 * more, or ERR_NOMEM.
 */
int tree_builder_parse(struct tree_builder *b, const uint8_t *bytes,
		       size_t len);

/*
 * Make the table of what a delta makes from `base`, a table of the same pool.
 * As tree_builder_parse(), but ERR_CORRUPT may also mean that the tree is too
 * odd for this; parsing its bytes decides.
 */
int tree_builder_derive(struct tree_builder *b, const struct tree_table *base,
			const uint8_t *delta, size_t delta_len);

/* What was made: points into the builder, valid until its next use. */
static inline struct tree_table tree_builder_table(const struct tree_builder *b)
{
	return (struct tree_table){b->entries, b->splice.starts,
				   (uint32_t)b->nr};
}

#endif
