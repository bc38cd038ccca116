/* SPDX-License-Identifier: MIT */
/* Making tables of trees. */
#include <string.h>

#include "base/mem.h"
#include "walk/tree-table.h"

static const uint8_t *old_bytes(void *ctx, uint32_t i)
{
	const struct tree_builder *b = ctx;

	return entry_pool_raw(b->pool, b->base->entries[i]);
}

static int take_old(void *ctx, uint32_t first, uint32_t last)
{
	struct tree_builder *b = ctx;
	uint32_t nr = last - first;

	if (mem_grow(&b->entries, &b->alloc, b->nr + nr, sizeof(*b->entries)) <
	    0)
		return ERR_NOMEM;
	memcpy(b->entries + b->nr, b->base->entries + first,
	       nr * sizeof(*b->entries));
	b->nr += nr;
	b->last = b->base->entries[last - 1];
	return 0;
}

static int take_new(void *ctx, const struct tree_entry *entry)
{
	struct tree_builder *b = ctx;

	if (mem_grow(&b->entries, &b->alloc, b->nr + 1, sizeof(*b->entries)) <
		    0 ||
	    entry_pool_add(b->pool, b->last, entry->raw, entry->raw_len,
			   &b->last) < 0)
		return ERR_NOMEM;
	b->entries[b->nr++] = b->last;
	return 0;
}

static const struct tree_splice_ops ops = {
	.old_bytes = old_bytes,
	.take_old = take_old,
	.take_new = take_new,
};

void tree_builder_init(struct tree_builder *b, struct entry_pool *pool,
		       enum hash_algo algo)
{
	*b = (struct tree_builder){.pool = pool};
	tree_splice_init(&b->splice, &ops, b, algo);
	b->splice.with_starts = true;
}

void tree_builder_release(struct tree_builder *b)
{
	tree_splice_release(&b->splice);
	free(b->entries);
}

int tree_builder_parse(struct tree_builder *b, const uint8_t *bytes, size_t len)
{
	b->nr = 0;
	b->last = ENTRY_POOL_NONE;
	return tree_splice_whole(&b->splice, bytes, len);
}

int tree_builder_derive(struct tree_builder *b, const struct tree_table *base,
			const uint8_t *delta, size_t delta_len)
{
	const struct tree_starts starts = {base->starts, base->nr};

	b->nr = 0;
	b->last = ENTRY_POOL_NONE;
	b->base = base;
	return tree_splice_delta(&b->splice, &starts, delta, delta_len);
}
