/* SPDX-License-Identifier: MIT */
/*
 * Trees as arrays of entry numbers (entry-pool.h), made from a tree's bytes or
 * from a delta against a tree that is a table already.
 *
 * A delta says which stretches of its base come back. Where such a stretch
 * begins at an entry of the base while the new tree is between two entries,
 * all entries that lie in it whole are entries of the new tree: parsing goes
 * forward from where it stands and sees the same bytes. So their numbers are
 * copied, and only the few entries at the seams are put together and parsed.
 */
#ifndef WALK_TREE_TABLE_H
#define WALK_TREE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "object/oid.h"
#include "walk/entry-pool.h"

struct tree_table {
	const uint32_t *entries; /* borrowed: entry_nr, in the tree's order */
	const uint32_t *starts;  /* borrowed: where in the tree's bytes each of
				    them begins, and the length of the tree */
	uint32_t nr;
};

struct tree_builder {
	struct entry_pool *pool; /* borrowed */
	enum hash_algo algo;
	uint32_t *entries; /* owned */
	size_t nr, alloc;
	uint32_t *starts; /* owned; one more than entries */
	size_t start_alloc;
	uint32_t *parsed; /* owned: those of the entries that were not taken
			     over from a base as they are */
	size_t parsed_nr, parsed_alloc;
	bool news_only;  /* only `parsed` is made */
	uint32_t last;   /* the entry before the next one; ENTRY_POOL_NONE */
	uint32_t at;     /* where the next entry begins */
	struct buf part; /* bytes of an entry whose end is still to come */
};

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

/*
 * As tree_builder_derive(), but no table is made, only `parsed`: what the tree
 * has besides its base, and perhaps some of what both have.
 */
int tree_builder_news(struct tree_builder *b, const struct tree_table *base,
		      const uint8_t *delta, size_t delta_len);

/* What was made: points into the builder, valid until its next use. */
static inline struct tree_table tree_builder_table(const struct tree_builder *b)
{
	return (struct tree_table){b->entries, b->starts, (uint32_t)b->nr};
}

#endif
