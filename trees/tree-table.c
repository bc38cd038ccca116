/* SPDX-License-Identifier: MIT */
/* Makes tables of trees: arrays of entry numbers. */
#include <string.h>

#include "base/mem.h"
#include "trees/tree-store.h"

/*
 * Maximum number of bytes of a tree for which a delta from a nearly equal tree
 * is made. One instruction of a delta can copy such a tree, because an
 * instruction can copy up to 2^24 - 1 bytes.
 */
#define NEAR_LEN_MAX ((size_t)0xffffff)

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
	*b = (struct tree_builder){.pool = pool, .delta = BUF_INIT};
	tree_splice_init(&b->splice, &ops, b, algo);
	b->splice.with_starts = true;
}

void tree_builder_release(struct tree_builder *b)
{
	tree_splice_release(&b->splice);
	free(b->entries);
	buf_release(&b->delta);
}

int tree_builder_parse(struct tree_builder *b, const uint8_t *bytes, size_t len)
{
	int ret;

	b->nr = 0;
	ret = tree_splice_whole(&b->splice, bytes, len);
	settle(b);
	return ret;
}

/* ---- trees that are nearly equal */

/*
 * Returns whether entry i of the table `near` is at the start of `bytes`.
 */
static bool is_at(const struct tree_builder *b, const struct tree_table *near,
		  uint32_t i, const uint8_t *bytes)
{
	return !memcmp(entry_pool_raw(b->pool, near->entries[i]), bytes,
		       near->starts[i + 1] - near->starts[i]);
}

/*
 * Compares the entries of the table `near` with the bytes of a tree, `bytes`.
 * Returns how many entries from the start are equal.
 */
static uint32_t common_start(const struct tree_builder *b,
			     const struct tree_table *near,
			     const uint8_t *bytes, size_t len)
{
	uint32_t i = 0;

	while (i < near->nr && near->starts[i + 1] <= len &&
	       is_at(b, near, i, bytes + near->starts[i]))
		i++;
	return i;
}

/*
 * Finds the longest run of entries that is at the end of the table `near` and
 * also at the end of `bytes`. The run begins at entry `first` or later. Returns
 * the number of the first entry of the run, or near->nr if the run is empty.
 */
static uint32_t common_end(const struct tree_builder *b,
			   const struct tree_table *near, uint32_t first,
			   const uint8_t *bytes, size_t len)
{
	size_t near_len = near->starts[near->nr], min = near->starts[first];
	uint32_t i = near->nr;

	while (i > first && near_len - near->starts[i - 1] <= len - min &&
	       is_at(b, near, i - 1,
		     bytes + len - (near_len - near->starts[i - 1])))
		i--;
	return i;
}

static int put_size(struct buf *delta, size_t size)
{
	for (; size >= 0x80; size >>= 7)
		if (buf_append_char(delta, (char)(size | 0x80)) < 0)
			return ERR_NOMEM;
	return buf_append_char(delta, (char)size);
}

/* Appends an instruction that copies `len` bytes from `off` on. */
static int put_copy(struct buf *delta, size_t off, size_t len)
{
	const char op[] = {(char)0xff,        (char)off,
			   (char)(off >> 8),  (char)(off >> 16),
			   (char)(off >> 24), (char)len,
			   (char)(len >> 8),  (char)(len >> 16)};

	return len ? buf_append(delta, op, sizeof(op)) : 0;
}

static int put_insert(struct buf *delta, const uint8_t *bytes, size_t len)
{
	while (len) {
		size_t nr = len < 127 ? len : 127;

		if (buf_append_char(delta, (char)nr) < 0 ||
		    buf_append(delta, bytes, nr) < 0)
			return ERR_NOMEM;
		bytes += nr;
		len -= nr;
	}
	return 0;
}

/*
 * Makes b->delta: a delta that copies the entries before `first` and the
 * entries from `last` on, and inserts all other bytes of the tree.
 */
static int make_delta(struct tree_builder *b, const struct tree_table *near,
		      uint32_t first, uint32_t last, const uint8_t *bytes,
		      size_t len)
{
	size_t near_len = near->starts[near->nr], start = near->starts[first],
	       end_len = near_len - near->starts[last];

	buf_reset(&b->delta);
	if (put_size(&b->delta, near_len) < 0 || put_size(&b->delta, len) < 0 ||
	    put_copy(&b->delta, 0, start) < 0 ||
	    put_insert(&b->delta, bytes + start, len - start - end_len) < 0 ||
	    put_copy(&b->delta, near->starts[last], end_len) < 0)
		return ERR_NOMEM;
	return 0;
}

int tree_builder_parse_near(struct tree_builder *b,
			    const struct tree_table *near, const uint8_t *bytes,
			    size_t len)
{
	uint32_t first, last;
	int ret;

	if (len > NEAR_LEN_MAX || near->starts[near->nr] > NEAR_LEN_MAX)
		return tree_builder_parse(b, bytes, len);
	first = common_start(b, near, bytes, len);
	last = common_end(b, near, first, bytes, len);
	ret = make_delta(b, near, first, last, bytes, len);
	if (!ret)
		ret = tree_builder_derive(
			b, near, (const uint8_t *)b->delta.data, b->delta.len);
	return ret < 0 && ret != ERR_NOMEM ? tree_builder_parse(b, bytes, len)
					   : ret;
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
