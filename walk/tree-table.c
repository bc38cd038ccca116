/* SPDX-License-Identifier: MIT */
/* Makes tables of trees: arrays of entry numbers. */
#include <string.h>

#include "base/mem.h"
#include "walk/tree-store.h"

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
	return 0;
}

/*
 * Gives numbers to the entries that wait in the pool, and puts their numbers
 * into the table.
 */
static void settle(struct tree_builder *b)
{
	uint32_t nr = b->pool->waiting_nr, entry_nrs[ENTRY_POOL_WAIT_MAX];

	entry_pool_settle(b->pool, entry_nrs);
	for (uint32_t i = 0; i < nr; i++)
		b->entries[b->waiting[i]] = entry_nrs[i];
}

static int take_new(void *ctx, const struct tree_entry *entry)
{
	struct tree_builder *b = ctx;
	uint32_t waiting = b->pool->waiting_nr;

	if (mem_grow(&b->entries, &b->alloc, b->nr + 1, sizeof(*b->entries)) <
		    0 ||
	    entry_pool_put(b->pool, entry->raw, entry->raw_len) < 0)
		return ERR_NOMEM;
	b->waiting[waiting] = (uint32_t)b->nr++;
	if (waiting + 1 == ENTRY_POOL_WAIT_MAX)
		settle(b);
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
	int ret;

	b->nr = 0;
	ret = tree_splice_whole(&b->splice, bytes, len);
	settle(b);
	return ret;
}

int tree_builder_derive(struct tree_builder *b, const struct tree_table *base,
			const uint8_t *delta, size_t delta_len)
{
	const struct tree_starts starts = {base->starts, base->nr};
	int ret;

	b->nr = 0;
	b->base = base;
	ret = tree_splice_delta(&b->splice, &starts, delta, delta_len);
	settle(b);
	return ret;
}
