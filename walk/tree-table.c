/* SPDX-License-Identifier: MIT */
/* Making tables of trees. */
#include <string.h>

#include "base/mem.h"
#include "pack/delta.h"
#include "walk/tree-table.h"

/* An entry in pieces that gets longer than this is left to the plain parser,
 * which does not begin again with each piece. */
#define PART_LEN_MAX ((size_t)64 << 10)

void tree_builder_init(struct tree_builder *b, struct entry_pool *pool,
		       enum hash_algo algo)
{
	*b = (struct tree_builder){
		.pool = pool,
		.algo = algo,
		.part = BUF_INIT,
	};
}

void tree_builder_release(struct tree_builder *b)
{
	free(b->entries);
	free(b->starts);
	free(b->parsed);
	buf_release(&b->part);
}

static int reserve(struct tree_builder *b, size_t nr)
{
	if (mem_grow(&b->entries, &b->alloc, b->nr + nr, sizeof(*b->entries)) <
		    0 ||
	    mem_grow(&b->starts, &b->start_alloc, b->nr + nr + 1,
		     sizeof(*b->starts)) < 0)
		return ERR_NOMEM;
	return 0;
}

static int start(struct tree_builder *b)
{
	b->nr = b->parsed_nr = 0;
	b->news_only = false;
	b->last = ENTRY_POOL_NONE;
	b->at = 0;
	buf_reset(&b->part);
	if (reserve(b, 1) < 0)
		return ERR_NOMEM;
	b->starts[0] = 0;
	return 0;
}

/* Append what entry_pool_add() has made of the next entry. */
static int push_entry(struct tree_builder *b, uint32_t entry_nr, size_t len)
{
	if (mem_grow(&b->parsed, &b->parsed_alloc, b->parsed_nr + 1,
		     sizeof(*b->parsed)) < 0)
		return ERR_NOMEM;
	b->parsed[b->parsed_nr++] = entry_nr;
	b->last = entry_nr;
	b->at += (uint32_t)len;
	if (b->news_only)
		return 0;
	if (reserve(b, 1) < 0)
		return ERR_NOMEM;
	b->entries[b->nr] = entry_nr;
	b->starts[++b->nr] = b->at;
	return 0;
}

/* Take whole entries from the front of *c, as many as there are. */
static int take_entries(struct tree_builder *b, struct cursor *c)
{
	struct tree_entry entry;

	while (tree_next(&entry, c, b->algo) > 0) {
		uint32_t entry_nr;

		if (entry_pool_add(b->pool, b->last, entry.raw, entry.raw_len,
				   &entry_nr) < 0 ||
		    push_entry(b, entry_nr, entry.raw_len) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

int tree_builder_parse(struct tree_builder *b, const uint8_t *bytes, size_t len)
{
	struct cursor c = cursor_make(bytes, len);

	if (len >= UINT32_MAX)
		return ERR_UNSUPPORTED;
	if (start(b) < 0 || take_entries(b, &c) < 0)
		return ERR_NOMEM;
	return cursor_left(&c) ? ERR_CORRUPT : 0;
}

/* Take bytes that need not be whole entries, nor begin with one. */
static int take_bytes(struct tree_builder *b, const uint8_t *bytes, size_t len)
{
	struct cursor c;
	size_t left;

	if (buf_append(&b->part, bytes, len) < 0)
		return ERR_NOMEM;
	c = cursor_make(b->part.data, b->part.len);
	if (take_entries(b, &c) < 0)
		return ERR_NOMEM;
	left = cursor_left(&c);
	if (left > PART_LEN_MAX)
		return ERR_CORRUPT;
	if (left)
		memmove(b->part.data, c.p, left);
	buf_set_len(&b->part, left);
	return 0;
}

/* The first entry of the base that begins at or after `off`; nr: its end. */
static uint32_t entry_from(const struct tree_table *base, uint32_t off)
{
	const uint32_t *at = base->starts;
	uint32_t len = base->nr;

	while (len) {
		uint32_t half = (len + 1) / 2;

		at += at[half - 1] < off ? half : 0;
		len -= half;
	}
	return (uint32_t)(at - base->starts);
}

/* Take bytes [off, end) of the base, all in its entry i. */
static int take_piece(struct tree_builder *b, const struct tree_table *base,
		      uint32_t i, uint32_t off, uint32_t end)
{
	return take_bytes(b,
			  entry_pool_raw(b->pool, base->entries[i]) +
				  (off - base->starts[i]),
			  end - off);
}

/* In steps of a constant length, which compilers turn into vectors. */
static void copy_shifted(uint32_t *restrict to, const uint32_t *restrict from,
			 uint32_t nr, uint32_t shift)
{
	uint32_t i = 0;

	for (; i + 8 <= nr; i += 8)
		for (uint32_t k = 0; k < 8; k++)
			to[i + k] = from[i + k] + shift;
	for (; i < nr; i++)
		to[i] = from[i] + shift;
}

/* Take entries [first, last) of the base as they are. */
static int take_range(struct tree_builder *b, const struct tree_table *base,
		      uint32_t first, uint32_t last)
{
	uint32_t nr = last - first;

	b->at += base->starts[last] - base->starts[first];
	if (!nr)
		return 0;
	b->last = base->entries[last - 1];
	if (b->news_only)
		return 0;
	if (reserve(b, nr) < 0)
		return ERR_NOMEM;
	memcpy(b->entries + b->nr, base->entries + first,
	       nr * sizeof(*b->entries));
	b->nr += nr;
	copy_shifted(b->starts + b->nr + 1 - nr, base->starts + first + 1, nr,
		     b->at - base->starts[last]);
	return 0;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Take bytes [off, end) of the base. */
static int take_copy(struct tree_builder *b, const struct tree_table *base,
		     uint32_t off, uint32_t end)
{
	const uint32_t *starts = base->starts;
	uint32_t i = entry_from(base, off), last;
	int ret = 0;

	if (starts[i] > off)
		ret = take_piece(b, base, i - 1, off, min_u32(starts[i], end));
	/* Until both are between two entries. */
	for (; !ret && b->part.len && starts[i] < end; i++)
		ret = take_piece(b, base, i, starts[i],
				 min_u32(starts[i + 1], end));
	if (ret < 0 || starts[i] >= end)
		return ret;
	last = entry_from(base, end);
	if (starts[last] > end)
		last--;
	if (take_range(b, base, i, last) < 0)
		return ERR_NOMEM;
	if (starts[last] == end)
		return 0;
	return take_piece(b, base, last, starts[last], end);
}

static int take_op(struct tree_builder *b, const struct tree_table *base,
		   const struct delta_op *op)
{
	if (op->len >= UINT32_MAX - b->at - b->part.len)
		return ERR_UNSUPPORTED;
	if (op->insert)
		return take_bytes(b, op->insert, op->len);
	return take_copy(b, base, (uint32_t)op->off,
			 (uint32_t)(op->off + op->len));
}

static int apply(struct tree_builder *b, const struct tree_table *base,
		 const uint8_t *delta, size_t delta_len, bool news_only)
{
	struct cursor c = cursor_make(delta, delta_len);
	uint32_t base_len = base->starts[base->nr];
	uint64_t base_size, size;
	struct delta_op op;
	size_t header_len;
	int ret;

	if (delta_sizes(delta, delta_len, &base_size, &size, &header_len) < 0 ||
	    base_size != base_len)
		return ERR_CORRUPT;
	if (start(b) < 0)
		return ERR_NOMEM;
	b->news_only = news_only;
	c.p += header_len;
	while ((ret = delta_next(&op, &c, base_len)) > 0) {
		ret = take_op(b, base, &op);
		if (ret < 0)
			return ret;
	}
	if (ret < 0 || b->part.len || b->at != size)
		return ERR_CORRUPT;
	return 0;
}

int tree_builder_derive(struct tree_builder *b, const struct tree_table *base,
			const uint8_t *delta, size_t delta_len)
{
	return apply(b, base, delta, delta_len, false);
}

int tree_builder_news(struct tree_builder *b, const struct tree_table *base,
		      const uint8_t *delta, size_t delta_len)
{
	return apply(b, base, delta, delta_len, true);
}
