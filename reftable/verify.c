/* SPDX-License-Identifier: MIT */
/* Verifying a whole table. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/varint.h"
#include "reftable/table.h"

/* The offset and the last key of a block that was verified. */
struct seen {
	char *key; /* owned */
	size_t key_len;
	uint64_t off;
};

struct seen_list {
	struct seen *items; /* owned */
	size_t nr, alloc;
};

struct verifier {
	const struct reftable_file *file;
	struct reftable_block block;
	struct reftable_cursor cur;
	/* type of the current section; 0 before the first one */
	enum reftable_block_type section;
	/*
	 * last key that was verified in the current section; in an index, last
	 * key that was verified in the current level
	 */
	struct buf last;
	/*
	 * `below`: the blocks of the level below. `level`: the blocks of the
	 * current level of the index. The index has listed the first `named`
	 * blocks of `below`.
	 */
	struct seen_list below, level;
	size_t named;
	/* true: the current section has index blocks */
	bool has_index;
	uint64_t *ref_blocks;
	size_t ref_nr, ref_alloc;
	struct reftable_names *symbolic; /* borrowed; may be NULL */
	struct error *err;
};

static int bad(const struct verifier *v, const char *why)
{
	return reftable_block_corrupt(v->file, v->block.off, why, v->err);
}

static void list_clear(struct seen_list *list)
{
	while (list->nr)
		free(list->items[--list->nr].key);
}

static int list_add(struct verifier *v, struct seen_list *list)
{
	struct seen *s;

	if (mem_grow(&list->items, &list->alloc, list->nr + 1,
		     sizeof(*list->items)) < 0)
		return error_nomem(v->err);
	s = &list->items[list->nr];
	s->key = mem_strndup(v->last.data, v->last.len);
	if (!s->key)
		return error_nomem(v->err);
	s->key_len = v->last.len;
	s->off = v->block.off;
	list->nr++;
	return 0;
}

static bool is_ref_block(const struct verifier *v, uint64_t off)
{
	uint32_t size = v->file->footer.block_size;
	size_t low = 0, high = v->ref_nr;

	/*
	 * If blocks are aligned, the number of a block of refs is its offset
	 * divided by the block size.
	 */
	if (size && off / size < high && v->ref_blocks[off / size] == off)
		return true;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v->ref_blocks[mid] == off)
			return true;
		if (v->ref_blocks[mid] < off)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

static int check_ref_blocks(struct verifier *v)
{
	struct cursor *c = &v->cur.value;
	uint64_t nr = v->cur.extra, off = 0, delta;

	if (!nr && !varint_take(c, &nr))
		return bad(v, "bad object");
	for (uint64_t i = 0; i < nr; i++) {
		if (!varint_take(c, &delta) || (i && !delta) ||
		    __builtin_add_overflow(off, delta, &off))
			return bad(v, "bad object");
		if (!is_ref_block(v, off))
			return bad(v, "object does not lead to a ref block");
	}
	return 0;
}

/*
 * Verifies an index block: each record must describe the next block of the
 * level below. Returns 0 or ERR_CORRUPT.
 */
static int check_named(struct verifier *v)
{
	const struct buf *key = &v->cur.key;
	const struct seen *s;
	uint64_t off;

	if (!varint_take(&v->cur.value, &off))
		return bad(v, "bad index");
	if (v->named == v->below.nr)
		return bad(v, "index has too many records");
	s = &v->below.items[v->named];
	if (off != s->off ||
	    reftable_key_cmp(key->data, key->len, s->key, s->key_len) != 0)
		return bad(v, "index names another block");
	v->named++;
	return 0;
}

static int set_name(struct verifier *v, struct buf *name)
{
	buf_reset(name);
	return buf_append(name, v->cur.key.data, v->cur.key.len) < 0
		       ? error_nomem(v->err)
		       : 0;
}

static int note_symbolic(struct verifier *v)
{
	struct buf *first = &v->symbolic->first, *last = &v->symbolic->last;
	const struct buf *key = &v->cur.key;
	int ret = 0;

	if (!first->len ||
	    reftable_key_cmp(key->data, key->len, first->data, first->len) < 0)
		ret = set_name(v, first);
	if (!ret &&
	    reftable_key_cmp(key->data, key->len, last->data, last->len) > 0)
		ret = set_name(v, last);
	return ret;
}

static int check_ref(struct verifier *v)
{
	const struct reftable_footer *f = &v->file->footer;
	struct reftable_cursor *cur = &v->cur;
	struct reftable_ref ref;

	if (!reftable_ref_take(&cur->value, &ref, &cur->key, cur->extra,
			       f->min_index, f->algo) ||
	    ref.update_index > f->max_index)
		return bad(v, "bad value");
	return v->symbolic && ref.value == REFTABLE_SYMBOLIC ? note_symbolic(v)
							     : 0;
}

static int check_value(struct verifier *v)
{
	const struct reftable_footer *f = &v->file->footer;
	struct reftable_cursor *cur = &v->cur;
	struct reftable_log log;

	switch (v->block.type) {
	case REFTABLE_REFS:
		return check_ref(v);
	case REFTABLE_LOGS:
		return reftable_log_take(&cur->value, &log, &cur->key,
					 cur->extra, f->algo)
			       ? 0
			       : bad(v, "bad value");
	case REFTABLE_OBJECTS:
		return cur->key.len == f->obj_id_len ? check_ref_blocks(v)
						     : bad(v, "bad object");
	default:
		return check_named(v);
	}
}

static size_t restart_at(const struct reftable_block *block, uint32_t i)
{
	const uint8_t *p = block->bytes + block->records_end + 3 * (size_t)i;

	return (size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2];
}

/*
 * Verifies all records of a block, their order, and the restarts. Returns 0 or
 * a negative error code.
 */
static int check_records(struct verifier *v)
{
	struct reftable_cursor *cur = &v->cur;
	uint32_t restart = 0;
	int ret;

	reftable_cursor_start(cur, &v->block);
	for (;;) {
		const uint8_t *record = v->block.bytes + cur->off;
		bool is_restart = restart < v->block.restart_nr &&
				  cur->off == restart_at(&v->block, restart);

		ret = reftable_cursor_next(cur, v->file, v->err);
		if (ret <= 0)
			break;
		if (is_restart && *record)
			return bad(v, "restart within a key");
		restart += is_restart;
		if (v->last.len &&
		    reftable_key_cmp(v->last.data, v->last.len, cur->key.data,
				     cur->key.len) >= 0)
			return bad(v, "keys out of order");
		ret = check_value(v);
		if (ret < 0)
			return ret;
		reftable_cursor_done(cur);
		buf_reset(&v->last);
		if (buf_append(&v->last, cur->key.data, cur->key.len) < 0)
			return error_nomem(v->err);
	}
	if (!ret && restart != v->block.restart_nr)
		return bad(v, "restart offset is not at a record");
	return ret;
}

static uint64_t index_off(const struct verifier *v)
{
	const struct reftable_footer *f = &v->file->footer;

	return v->section == REFTABLE_REFS      ? f->ref_index_off
	       : v->section == REFTABLE_OBJECTS ? f->obj_index_off
	       : v->section == REFTABLE_LOGS    ? f->log_index_off
						: 0;
}

/*
 * Ends the verification of a section. If the section has an index, the blocks
 * of the index must lead to all other blocks, and the top level must begin at
 * the offset in the footer. Returns 0 or ERR_CORRUPT.
 */
static int end_section(struct verifier *v)
{
	uint64_t top = v->has_index ? v->below.items[0].off : 0;
	bool whole = !v->named && index_off(v) == top;

	list_clear(&v->below);
	list_clear(&v->level);
	v->named = 0;
	buf_reset(&v->last);
	if (!whole)
		return bad(v, "index does not lead to all blocks");
	v->has_index = false;
	return 0;
}

static int start_section(struct verifier *v)
{
	static const char order[] = {0, REFTABLE_REFS, REFTABLE_OBJECTS,
				     REFTABLE_LOGS};
	const struct reftable_footer *f = &v->file->footer;
	enum reftable_block_type type = v->block.type;
	const char *before = memchr(order, v->section, sizeof(order));
	uint64_t off = type == REFTABLE_LOGS      ? f->log_off
		       : type == REFTABLE_OBJECTS ? f->obj_off
						  : 0;
	int ret = end_section(v);

	if (ret < 0)
		return ret;
	if (!memchr(before, type, (size_t)(order + sizeof(order) - before)) ||
	    off != v->block.off)
		return bad(v, "section is not where it should be");
	v->section = type;
	return 0;
}

/*
 * Verifies an index block, which belongs to the current level of the index or
 * begins the next level. Returns 0 or a negative error code.
 */
static int check_index(struct verifier *v)
{
	int ret;

	if (!v->named)
		buf_reset(&v->last);
	ret = check_records(v);
	if (!ret)
		ret = list_add(v, &v->level);
	v->has_index = true;
	if (!ret && v->named == v->below.nr) {
		struct seen_list done = v->below;

		list_clear(&done);
		v->below = v->level;
		v->level = done;
		v->named = 0;
	}
	return ret;
}

static int check_block(struct verifier *v)
{
	int ret = 0;

	if (v->block.type == REFTABLE_INDEX)
		return v->section ? check_index(v)
				  : bad(v, "index without a section");
	if (v->block.type != v->section || v->has_index)
		ret = start_section(v);
	if (!ret)
		ret = check_records(v);
	if (!ret)
		ret = list_add(v, &v->below);
	if (ret || v->block.type != REFTABLE_REFS)
		return ret;
	if (mem_grow(&v->ref_blocks, &v->ref_alloc, v->ref_nr + 1,
		     sizeof(*v->ref_blocks)) < 0)
		return error_nomem(v->err);
	v->ref_blocks[v->ref_nr++] = v->block.off;
	return 0;
}

static int check_blocks(struct verifier *v)
{
	uint64_t off = 0;
	int ret = 0;

	while (!ret && reftable_block_peek(v->file, off)) {
		ret = reftable_block_open(&v->block, v->file, off, v->err);
		if (!ret)
			ret = check_block(v);
		off = v->block.next_off;
	}
	if (!ret)
		ret = end_section(v);
	if (!ret && off && off != v->file->end)
		ret = bad(v, "no valid block follows this one");
	return ret;
}

void reftable_names_release(struct reftable_names *names)
{
	buf_release(&names->first);
	buf_release(&names->last);
}

int reftable_verify(const struct reftable *table,
		    struct reftable_names *symbolic, struct error *err)
{
	struct verifier v = {
		.file = &table->file, .symbolic = symbolic, .err = err};
	int ret;

	reftable_block_init(&v.block);
	reftable_cursor_init(&v.cur);
	buf_init(&v.last);
	ret = check_blocks(&v);
	list_clear(&v.below);
	list_clear(&v.level);
	free(v.below.items);
	free(v.level.items);
	free(v.ref_blocks);
	buf_release(&v.last);
	reftable_cursor_release(&v.cur);
	reftable_block_release(&v.block);
	return ret;
}
