/* SPDX-License-Identifier: MIT */
/* Writes a table: its sections in their order, and their records. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/varint.h"
#include "reftable/writer-internal.h"

#define DEFAULT_INTERVAL 16
#define LEAST_BLOCK_SIZE 64

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
		w->options.block_size = REFTABLE_BLOCK_SIZE_DEFAULT;
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

void reftable_writer_free(struct reftable_writer *w)
{
	if (!w)
		return;
	reftable_writer_forget_index(w);
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

/*
 * Verifies that the key of a new record is larger than the previous key of the
 * section. Returns 0, ERR_INVALID or ERR_NOMEM.
 */
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

size_t reftable_writer_ref_size(size_t name_len, size_t target_len,
				enum hash_algo algo)
{
	uint8_t number[VARINT_MAX_LEN];
	size_t tag = 2 * hash_len(algo);
	size_t symbolic = varint_put(number, target_len) + target_len;

	/*
	 * The first block of a table has the least room for a ref, because the
	 * file's header is in this block.
	 */
	return reftable_header_len(algo == HASH_SHA1 ? 1 : 2) +
	       REFTABLE_BLOCK_FRAME_LEN +
	       /* the key, if it shares no byte with the key before */
	       varint_put(number, 0) +
	       varint_put(number, (uint64_t)name_len << 3) + name_len +
	       /* the longest value: an update index, and ids or a target */
	       VARINT_MAX_LEN + (tag > symbolic ? tag : symbolic);
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

/*
 * Completes the sections of refs and of objects, with their indexes. Returns 0
 * or a negative error code.
 */
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
	 * If the table has no refs, the reflogs begin at offset 0 and log_off
	 * stays 0. Readers see from the type of the first block that reflogs
	 * are there.
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
	return reftable_writer_flush(w, err);
}
