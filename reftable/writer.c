/* SPDX-License-Identifier: MIT */
/* Writing a table: sections, their blocks and indexes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/varint.h"
#include "reftable/writer-internal.h"

#define DEFAULT_BLOCK_SIZE 4096
#define DEFAULT_INTERVAL 16
#define LEAST_BLOCK_SIZE 64
#define FLUSH_LEN (64 * 1024)
/* A section with more blocks gets an index. */
#define INDEX_THRESHOLD 3

int reftable_writer_new(struct reftable_writer **out, struct sys_tempfile *file,
			const struct reftable_writer_options *options,
			struct error *err)
{
	struct reftable_writer *w;

	*out = NULL;
	if (options->block_size > REFTABLE_BLOCK_SIZE_MAX ||
	    (options->block_size && options->block_size < LEAST_BLOCK_SIZE))
		return error_set(err, ERR_INVALID,
				 "reftable block size cannot be %u",
				 options->block_size);
	w = mem_calloc(1, sizeof(*w));
	if (!w)
		return error_nomem(err);
	w->file = file;
	w->options = *options;
	if (!w->options.block_size)
		w->options.block_size = DEFAULT_BLOCK_SIZE;
	if (!w->options.restart_interval)
		w->options.restart_interval = DEFAULT_INTERVAL;
	w->footer.version = options->algo == HASH_SHA1 ? 1 : 2;
	w->footer.block_size = w->options.block_size;
	w->footer.min_index = options->min_index;
	w->footer.max_index = options->max_index;
	w->footer.algo = options->algo;
	reftable_block_writer_init(&w->block);
	buf_init(&w->out);
	buf_init(&w->value);
	buf_init(&w->start);
	buf_init(&w->last);
	*out = w;
	return 0;
}

static void forget_index(struct reftable_writer *w)
{
	while (w->index_nr)
		free(w->index[--w->index_nr].key);
}

void reftable_writer_free(struct reftable_writer *w)
{
	if (!w)
		return;
	forget_index(w);
	free(w->index);
	free(w->objects);
	reftable_block_writer_release(&w->block);
	buf_release(&w->out);
	buf_release(&w->value);
	buf_release(&w->start);
	buf_release(&w->last);
	free(w);
}

bool reftable_writer_is_empty(const struct reftable_writer *w)
{
	return !w->section;
}

uint64_t reftable_writer_len(const struct reftable_writer *w)
{
	return w->out_off + w->out.len;
}

static int flush(struct reftable_writer *w, struct error *err)
{
	int ret = sys_tempfile_write(w->file, w->out.data, w->out.len, err);

	w->out_off += w->out.len;
	buf_reset(&w->out);
	return ret;
}

/* Pads the file up to the next aligned block. */
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
		ret = flush(w, err);
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
 * Writes i-blocks for the blocks in w->index. Afterwards w->index has the new
 * i-blocks.
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
	/* Long keys may make a level as large as the level below. */
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
	forget_index(w);
	buf_reset(&w->last);
	return ret;
}

/* Verifies that keys ascend within a section. */
static int check_order(struct reftable_writer *w, const char *key,
		       size_t key_len, struct error *err)
{
	if (w->last.len &&
	    reftable_key_cmp(w->last.data, w->last.len, key, key_len) >= 0)
		return error_set(err, ERR_INVALID,
				 "reftable records out of order at '%.*s'",
				 (int)key_len, key);
	buf_reset(&w->last);
	return buf_append(&w->last, key, key_len) < 0 ? error_nomem(err) : 0;
}

int reftable_writer_add_ref(struct reftable_writer *w,
			    const struct reftable_ref *ref, struct error *err)
{
	int ret;

	assert(w->section != REFTABLE_LOGS);
	w->section = REFTABLE_REFS;
	ret = check_order(w, ref->name, ref->name_len, err);
	if (ret < 0)
		return ret;
	buf_reset(&w->value);
	if (reftable_ref_append(&w->value, ref, w->footer.min_index,
				w->footer.algo) < 0)
		return error_nomem(err);
	ret = reftable_writer_add(w, REFTABLE_REFS, ref->name, ref->name_len,
				  ref->value, w->value.data, w->value.len, err);
	if (!ret)
		return error_set(err, ERR_INVALID,
				 "ref '%.*s' is too long for a reftable block",
				 (int)ref->name_len, ref->name);
	return ret < 0 ? ret : reftable_writer_note(w, ref, err);
}

/* Completes refs, their index, objects and their index. */
static int end_refs(struct reftable_writer *w, struct error *err)
{
	struct reftable_footer *f = &w->footer;
	int ret = reftable_writer_end_section(w, &f->ref_index_off, err);

	if (!ret && f->ref_index_off)
		ret = reftable_writer_put_objects(w, err);
	return ret;
}

static int start_logs(struct reftable_writer *w, struct error *err)
{
	int ret = 0;

	if (w->section == REFTABLE_REFS)
		ret = end_refs(w, err);
	w->section = REFTABLE_LOGS;
	w->is_unaligned = true;
	/*
	 * If reflogs come first, the offset is 0 and the block's type
	 * identifies them.
	 */
	if (w->has_blocks)
		w->footer.log_off = reftable_writer_len(w);
	return ret;
}

int reftable_writer_add_log(struct reftable_writer *w,
			    const struct reftable_log *log, struct error *err)
{
	struct buf key = BUF_INIT;
	int ret = 0;

	if (w->section != REFTABLE_LOGS)
		ret = start_logs(w, err);
	buf_reset(&w->value);
	if (!ret && (reftable_log_key(&key, log->name, log->name_len,
				      log->update_index) < 0 ||
		     reftable_log_append(&w->value, log, w->footer.algo) < 0))
		ret = error_nomem(err);
	if (!ret)
		ret = check_order(w, key.data, key.len, err);
	if (!ret)
		ret = reftable_writer_add(w, REFTABLE_LOGS, key.data, key.len,
					  !log->is_deleted, w->value.data,
					  w->value.len, err);
	if (!ret)
		ret = error_set(err, ERR_INVALID,
				"reflog entry of '%.*s' is too long",
				(int)log->name_len, log->name);
	buf_release(&key);
	return ret < 0 ? ret : 0;
}

int reftable_writer_finish(struct reftable_writer *w, struct error *err)
{
	struct reftable_footer *f = &w->footer;
	int ret = 0;

	if (w->section == REFTABLE_REFS)
		ret = end_refs(w, err);
	else if (w->section == REFTABLE_LOGS)
		ret = reftable_writer_end_section(w, &f->log_index_off, err);
	if (ret < 0)
		return ret;
	if ((!w->has_blocks && reftable_header_append(&w->out, f) < 0) ||
	    reftable_footer_append(&w->out, f) < 0)
		return error_nomem(err);
	return flush(w, err);
}
