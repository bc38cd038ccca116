/* SPDX-License-Identifier: MIT */
/* Adds a table on top of a stack. */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "reftable/append-internal.h"
#include "sys/cleanup.h"
#include "sys/lockfile.h"

int reftable_append_lock(struct sys_tempfile *lock, const char *dir,
			 const char *name, unsigned share, int64_t timeout_ms,
			 struct error *err)
{
	struct buf path = BUF_INIT;
	int ret;

	if (buf_printf(&path, "%s/%s.lock", dir, name) < 0)
		ret = error_nomem(err);
	else
		ret = sys_lockfile_create_mode(lock, path.data, 0666 | share,
					       timeout_ms, err);
	buf_release(&path);
	return ret;
}

/*
 * Sets a->index to the update index of the next table.
 *
 * If tables.list names no table, but the directory has tables, the content of
 * the list was lost. The unlisted tables may be the only copy of the refs, so
 * they must not be removed. Each merge of tables removes unlisted tables, but
 * only those whose update indexes are all covered by listed tables
 * (reftable_unlisted_remove()). So the new index is above all indexes of the
 * unlisted tables. Then the listed tables never cover the unlisted tables, and
 * no merge removes them.
 *
 * Returns 0 or a negative error code.
 */
static int choose_index(struct reftable_append *a, struct error *err)
{
	uint64_t max = reftable_stack_max_index(&a->stack);
	int ret = a->stack.nr
			  ? 0
			  : reftable_unlisted_max_index(&max, &a->stack, a->dir,
							a->options.algo, err);

	if (ret < 0)
		return ret;
	if (max >= UINT64_MAX / 2)
		return error_set(err, ERR_CORRUPT,
				 "%s: no update indexes are left", a->dir);
	a->index = max + 1;
	return 0;
}

int reftable_append_begin(struct reftable_append *a, const char *dir,
			  const struct reftable_append_options *options,
			  struct error *err)
{
	int ret;

	memset(a, 0, sizeof(*a));
	a->dir = dir;
	a->options = *options;
	a->lock = a->file = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	buf_init(&a->name);
	ret = reftable_append_lock(&a->lock, dir, "tables.list", options->share,
				   options->timeout_ms, err);
	if (!ret)
		ret = reftable_stack_open(&a->stack, dir, options->algo, err);
	if (!ret)
		ret = choose_index(a, err);
	if (ret < 0)
		reftable_append_release(a);
	return ret;
}

/*
 * Returns 32 bits for the <random> part of a table's name, computed from the
 * random name of the temporary file `path`.
 */
static uint32_t random_of(const char *path)
{
	size_t len = strlen(path);

	return (uint32_t)crc32(0, (const uint8_t *)path, (uInt)len);
}

int reftable_append_writer(struct reftable_append *a, uint64_t min_index,
			   uint64_t max_index, struct error *err)
{
	struct reftable_writer_options options = {
		.algo = a->options.algo,
		.min_index = min_index,
		.max_index = max_index,
		.block_size = a->options.block_size,
		.restart_interval = a->options.restart_interval,
		.no_objects = a->options.no_objects,
	};
	int ret = sys_tempfile_create(&a->file, a->dir, "tmp_",
				      0666 | a->options.share, err);

	if (!ret)
		ret = reftable_writer_new(&a->writer, &a->file, &options, err);
	if (!ret &&
	    buf_printf(&a->name,
		       "0x%012" PRIx64 "-0x%012" PRIx64 "-%08" PRIx32 ".ref",
		       min_index, max_index, random_of(a->file.path)) < 0)
		ret = error_nomem(err);
	return ret;
}

int reftable_append_start(struct reftable_append *a, uint64_t indexes,
			  struct error *err)
{
	return reftable_append_writer(a, a->index, a->index + indexes - 1, err);
}

int reftable_append_table(struct reftable_append *a, struct error *err)
{
	int ret = reftable_writer_finish(a->writer, err);

	a->len = reftable_writer_len(a->writer);
	reftable_writer_free(a->writer);
	a->writer = NULL;
	if (!ret)
		ret = sys_tempfile_finish(&a->file, a->options.method, err);
	return ret;
}

int reftable_append_list(struct reftable_append *a, size_t from, size_t nr,
			 struct error *err)
{
	struct buf list = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; !ret && i <= a->stack.nr; i++) {
		if (i == from + nr)
			ret = buf_printf(&list, "%s\n", a->name.data);
		if (!ret && i < a->stack.nr && (i < from || i >= from + nr))
			ret = buf_printf(&list, "%s\n",
					 a->stack.tables[i]->name);
	}
	if (ret < 0)
		error_nomem(err);
	else
		ret = sys_tempfile_write(&a->lock, list.data, list.len, err);
	if (!ret)
		ret = sys_tempfile_finish(&a->lock, a->options.method, err);
	a->is_ready = !ret;
	buf_release(&list);
	return ret;
}

int reftable_append_finish(struct reftable_append *a, struct error *err)
{
	int ret = reftable_append_table(a, err);

	return ret ? ret : reftable_append_list(a, a->stack.nr, 0, err);
}

static int commit_as(struct reftable_append *a, struct sys_tempfile *file,
		     const char *name, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret;

	if (buf_printf(&path, "%s/%s", a->dir, name) < 0)
		ret = error_nomem(err);
	else
		ret = sys_tempfile_commit(file, path.data, a->options.method,
					  err);
	buf_release(&path);
	return ret;
}

int reftable_append_commit(struct reftable_append *a, struct error *err)
{
	struct sys_hold hold;
	int ret = 0;

	/*
	 * A signal between the renames of the table and of tables.list would
	 * leave a table that is in no list. So signals are held until both
	 * files are renamed.
	 */
	sys_hold_signals(&hold);
	if (a->is_ready) {
		ret = commit_as(a, &a->file, a->name.data, err);
		if (!ret)
			ret = commit_as(a, &a->lock, "tables.list", err);
	}
	sys_release_signals(&hold);
	a->is_ready = false;
	sys_tempfile_abort(&a->lock);
	return ret;
}

void reftable_append_release(struct reftable_append *a)
{
	reftable_writer_free(a->writer);
	sys_tempfile_abort(&a->file);
	sys_tempfile_abort(&a->lock);
	reftable_stack_release(&a->stack);
	buf_release(&a->name);
	a->writer = NULL;
	a->is_ready = false;
}
