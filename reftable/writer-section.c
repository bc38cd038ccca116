/* SPDX-License-Identifier: MIT */
/* Writes one section of a table: its blocks and its index. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/varint.h"
#include "reftable/writer-internal.h"

#define FLUSH_LEN (64 * 1024)
/* A section with more blocks than this gets an index. */
#define INDEX_THRESHOLD 3

void reftable_writer_forget_index(struct reftable_writer *w)
{
	while (w->index_nr)
		free(w->index[--w->index_nr].key);
}

uint64_t reftable_writer_len(const struct reftable_writer *w)
{
	return w->out_off + w->out.len;
}

int reftable_writer_flush(struct reftable_writer *w, struct error *err)
{
	int ret = sys_tempfile_write(w->file, w->out.data, w->out.len, err);

	w->out_off += w->out.len;
	buf_reset(&w->out);
	return ret;
}

/*
 * Pads the file with zeros up to the start of the next aligned block. Returns
 * 0 or ERR_NOMEM.
 */
static int pad(struct reftable_writer *w)
{
	static const char zeros[64];
	uint32_t size = w->options.block_size;
	uint64_t off = reftable_writer_len(w);
	size_t left = (size - off % size) % size;

	while (left) {
		size_t n = left < sizeof(zeros) ? left : sizeof(zeros);

		if (buf_append(&w->out, zeros, n) < 0)
			return ERR_NOMEM;
		left -= n;
	}
	return 0;
}

static int start_block(struct reftable_writer *w, enum reftable_block_type type,
		       struct error *err)
{
	size_t limit = type == REFTABLE_INDEX ? w->index_limit
					      : w->options.block_size;
	int ret = 0;

	buf_reset(&w->start);
	if (!w->has_blocks)
		ret = reftable_header_append(&w->start, &w->footer);
	else if (!w->is_unaligned)
		ret = pad(w);
	w->block_off = reftable_writer_len(w);
	if (!ret)
		ret = reftable_block_writer_start(
			&w->block, type, w->start.data, w->start.len, limit,
			w->options.restart_interval);
	if (ret < 0)
		return error_nomem(err);
	w->has_blocks = true;
	w->in_block = true;
	return 0;
}

static int index_add(struct reftable_writer *w, const struct buf *key,
		     uint64_t off, struct error *err)
{
	struct reftable_index_entry *e;

	if (mem_grow(&w->index, &w->index_alloc, w->index_nr + 1,
		     sizeof(*w->index)) < 0)
		return error_nomem(err);
	e = &w->index[w->index_nr];
	e->key = mem_strndup(key->data, key->len);
	if (!e->key)
		return error_nomem(err);
	e->key_len = key->len;
	e->off = off;
	w->index_nr++;
	return 0;
}

static int end_block(struct reftable_writer *w, struct error *err)
{
	int ret;

	if (!w->in_block)
		return 0;
	w->in_block = false;
	if (reftable_block_writer_finish(&w->block) < 0 ||
	    buf_append(&w->out, w->block.bytes.data, w->block.bytes.len) < 0)
		return error_nomem(err);
	ret = index_add(w, &w->block.last_key, w->block_off, err);
	if (!ret && w->out.len >= FLUSH_LEN)
		ret = reftable_writer_flush(w, err);
	return ret;
}

int reftable_writer_add(struct reftable_writer *w,
			enum reftable_block_type type, const char *key,
			size_t key_len, unsigned extra, const void *value,
			size_t value_len, struct error *err)
{
	bool may_grow = type == REFTABLE_LOGS || type == REFTABLE_INDEX;
	int ret = 0;

	if (w->in_block) {
		ret = reftable_block_writer_add(&w->block, key, key_len, extra,
						value, value_len, false);
		if (ret < 0)
			return error_nomem(err);
		if (ret)
			return 1;
		ret = end_block(w, err);
	}
	if (!ret)
		ret = start_block(w, type, err);
	if (ret < 0)
		return ret;
	ret = reftable_block_writer_add(&w->block, key, key_len, extra, value,
					value_len, may_grow);
	return ret < 0 ? error_nomem(err) : ret;
}

/*
 * Writes one level of an index: index blocks that list the blocks in w->index.
 * Afterwards w->index lists the new index blocks. Returns 0 or a negative
 * error code.
 */
static int write_level(struct reftable_writer *w, struct error *err)
{
	struct reftable_index_entry *below = w->index;
	size_t nr = w->index_nr;
	int ret = 0;

	w->index = NULL;
	w->index_nr = w->index_alloc = 0;
	for (size_t i = 0; i < nr; i++) {
		uint8_t off[VARINT_MAX_LEN];
		size_t len = varint_put(off, below[i].off);

		if (ret >= 0)
			ret = reftable_writer_add(
				w, REFTABLE_INDEX, below[i].key,
				below[i].key_len, 0, off, len, err);
		if (!ret)
			ret = error_set(err, ERR_INVALID,
					"reftable key is too long");
		free(below[i].key);
	}
	free(below);
	if (ret > 0)
		ret = end_block(w, err);
	/*
	 * If keys are long, a level may have as many blocks as the level below,
	 * and the index would never end. So the limit for an index block is
	 * raised.
	 */
	if (!ret && w->index_nr > nr / 2)
		w->index_limit = REFTABLE_BLOCK_SIZE_MAX;
	return ret;
}

int reftable_writer_end_section(struct reftable_writer *w, uint64_t *root_off,
				struct error *err)
{
	size_t threshold = w->is_unaligned ? 1 : INDEX_THRESHOLD;
	int ret = end_block(w, err);

	w->index_limit = w->options.block_size;
	while (!ret && w->index_nr > threshold) {
		ret = write_level(w, err);
		*root_off = w->block_off;
		threshold = 1;
	}
	reftable_writer_forget_index(w);
	buf_reset(&w->last);
	return ret;
}
