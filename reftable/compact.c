/* SPDX-License-Identifier: MIT */
/* Compaction: merges several tables of a stack into one table. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reftable/append-internal.h"
#include "sys/cleanup.h"
#include "sys/io.h"

#define DEFAULT_FACTOR 2

/* The state of merging the tables [from, from + nr) of the stack. */
struct compaction {
	struct reftable_append a;
	size_t from, nr;
	/* owned: lock files of the tables that are merged */
	struct sys_tempfile *locks;
	/*
	 * What happens if another process holds the lock of a table that should
	 * be merged. The compaction never waits for this lock. true: a caller
	 * has asked to merge all tables, so the compaction fails with
	 * ERR_DENIED. false: the compaction is automatic, so it merges nothing
	 * and succeeds.
	 */
	bool must_merge;
};

size_t reftable_compact_from(const uint64_t *sizes, size_t nr, unsigned factor)
{
	size_t from = nr;
	/*
	 * Total size of the tables that are chosen for the merge. While none is
	 * chosen, the loop sets it to the size of table i - 1.
	 */
	uint64_t sum = 0;

	for (size_t i = nr; i > 1; i--) {
		if (from == nr)
			sum = sizes[i - 1];
		if (sizes[i - 2] / factor >= sum)
			continue;
		/*
		 * Tables i - 2 and i - 1 are merged. All newer tables are
		 * merged too, because they are even smaller.
		 */
		if (from == nr)
			for (size_t j = i; j < nr; j++)
				sum += sizes[j];
		from = i - 2;
		sum += sizes[from];
	}
	return from;
}

/* Returns the length of a table in bytes without its header and footer. */
static uint64_t net_len(uint64_t len, enum hash_algo algo)
{
	unsigned version = algo == HASH_SHA1 ? 1 : 2;
	size_t gross = reftable_header_len(version) +
		       reftable_footer_len(version);

	return len > gross ? len - gross : 0;
}

/*
 * Chooses the tables of the stack to merge: the table with the index *from,
 * and all newer tables. If `top_len` is not 0, a further table of `top_len`
 * bytes counts as the newest table. Returns 0 or ERR_NOMEM.
 */
static int choose(const struct reftable_stack *stack,
		  const struct reftable_append_options *options,
		  uint64_t top_len, size_t *from)
{
	enum hash_algo algo = options->algo;
	unsigned factor = options->factor ? options->factor : DEFAULT_FACTOR;
	size_t nr = stack->nr;
	uint64_t *sizes = mem_alloc(nr + 1, sizeof(*sizes));

	if (!sizes)
		return ERR_NOMEM;
	for (size_t i = 0; i < nr; i++)
		sizes[i] = net_len(stack->tables[i]->map.len, algo);
	if (top_len)
		sizes[nr++] = net_len(top_len, algo);
	*from = reftable_compact_from(sizes, nr, factor);
	free(sizes);
	return 0;
}

int reftable_append_is_full(const struct reftable_append *a)
{
	size_t from;
	int ret = choose(&a->stack, &a->options, a->len, &from);

	/*
	 * If the append has made no table (a->len is 0), nothing needs to be
	 * merged.
	 */
	return ret < 0 ? ret : a->len && from < a->stack.nr;
}

/*
 * Locks the tables that will be merged. Returns 1 if all are locked, 0 if
 * another process has locked one of them, or a negative error code.
 */
static int lock_tables(struct compaction *c, struct error *err)
{
	c->locks = mem_calloc(c->nr, sizeof(*c->locks));
	if (!c->locks)
		return error_nomem(err);
	for (size_t i = 0; i < c->nr; i++)
		c->locks[i] = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	for (size_t i = 0; i < c->nr; i++) {
		struct error why = ERROR_INIT;
		int ret = reftable_append_lock(
			&c->locks[i], c->a.dir,
			c->a.stack.tables[c->from + i]->name,
			c->a.options.share, 0, &why);

		if (ret == ERR_DENIED && !c->must_merge)
			return 0;
		if (ret < 0 && err)
			*err = why;
		if (ret < 0)
			return ret;
		/*
		 * Close the descriptor of the lock file, because there may be
		 * many tables. The lock is kept.
		 */
		sys_close(c->locks[i].fd);
		c->locks[i].fd = -1;
	}
	return 1;
}

static int copy_records(struct compaction *c, struct reftable_merged *m,
			enum reftable_block_type type, struct error *err)
{
	const struct reftable_iter *it;
	int ret = reftable_merged_seek(m, type, "", 0, err);

	while (!ret) {
		ret = reftable_merged_next(m, &it, err);
		if (ret <= 0)
			break;
		ret = type == REFTABLE_LOGS
			      ? reftable_writer_add_log(c->a.writer, &it->log,
							err)
			      : reftable_writer_add_ref(c->a.writer, &it->ref,
							err);
	}
	return ret;
}

/*
 * Returns whether one of the tables to merge may have a ref that needs a block
 * of more than `size` bytes.
 */
static bool has_larger_blocks(const struct compaction *c, size_t size)
{
	for (size_t i = 0; i < c->nr; i++) {
		uint32_t block =
			c->a.stack.tables[c->from + i]->file.footer.block_size;

		/*
		 * If the block size is 0, blocks are not aligned and may have
		 * any size.
		 */
		if (!block || block > size)
			return true;
	}
	return false;
}

/*
 * Raises the block size of the new table until each ref fits into a block. The
 * old tables may have larger blocks than the configured size, and compaction
 * must not fail for a ref that they store. Returns 0 or a negative error code.
 */
static int fit_blocks(struct compaction *c, struct reftable_merged *m,
		      struct error *err)
{
	struct reftable_append_options *o = &c->a.options;
	size_t size = o->block_size ? o->block_size
				    : REFTABLE_BLOCK_SIZE_DEFAULT;
	size_t least = size;
	const struct reftable_iter *it;
	int ret;

	if (!has_larger_blocks(c, size))
		return 0;
	ret = reftable_merged_seek(m, REFTABLE_REFS, "", 0, err);
	while (!ret && (ret = reftable_merged_next(m, &it, err)) > 0) {
		size_t need = reftable_writer_ref_size(
			it->ref.name_len,
			it->ref.value == REFTABLE_SYMBOLIC ? it->ref.target_len
							   : 0,
			o->algo);

		least = need > least ? need : least;
		ret = 0;
	}
	if (!ret && least > size && least <= REFTABLE_BLOCK_SIZE_MAX)
		o->block_size = (uint32_t)least;
	return ret;
}

static int merge(struct compaction *c, struct error *err)
{
	struct reftable *const *tables = c->a.stack.tables + c->from;
	uint64_t min = tables[0]->file.footer.min_index, max = 0;
	struct reftable_merged m;
	int ret;

	for (size_t i = 0; i < c->nr; i++) {
		const struct reftable_footer *f = &tables[i]->file.footer;

		min = f->min_index < min ? f->min_index : min;
		max = f->max_index > max ? f->max_index : max;
	}
	/*
	 * If there are older tables below the merged ones, deletions must be
	 * kept, because they hide records of the older tables.
	 */
	ret = reftable_merged_init(&m, tables, c->nr, c->from > 0, err);
	if (ret < 0)
		return ret;
	ret = fit_blocks(c, &m, err);
	if (!ret)
		ret = reftable_append_writer(&c->a, min, max, err);
	if (!ret)
		ret = copy_records(c, &m, REFTABLE_REFS, err);
	if (!ret)
		ret = copy_records(c, &m, REFTABLE_LOGS, err);
	if (!ret)
		ret = reftable_append_table(&c->a, err);
	reftable_merged_release(&m);
	return ret;
}

/*
 * Locks tables.list again after the merge, and opens the new stack. During the
 * merge, other processes may have appended tables, and may have merged tables
 * that this process has not locked. Returns 0, ERR_DENIED if the tables of
 * this merge have changed, or another negative error code.
 */
static int relock(struct compaction *c, struct reftable_stack *old,
		  struct error *err)
{
	struct reftable_append *a = &c->a;
	const char *first = old->tables[c->from]->name;
	size_t i;
	int ret = reftable_append_lock(&a->lock, a->dir, "tables.list",
				       a->options.share, a->options.timeout_ms,
				       err);

	if (!ret)
		ret = reftable_stack_open(&a->stack, a->dir, a->options.algo,
					  err);
	if (ret < 0)
		return ret;
	for (i = 0; i < a->stack.nr; i++)
		if (!strcmp(a->stack.tables[i]->name, first))
			break;
	for (size_t j = 0; j < c->nr; j++)
		if (i + j >= a->stack.nr ||
		    strcmp(a->stack.tables[i + j]->name,
			   old->tables[c->from + j]->name) != 0)
			return error_set(err, ERR_DENIED,
					 "%s: tables have changed while they "
					 "were locked",
					 a->dir);
	c->from = i;
	return 0;
}

static void remove_tables(struct compaction *c)
{
	struct buf path = BUF_INIT;

	for (size_t i = 0; i < c->nr; i++) {
		const char *name = c->a.stack.tables[c->from + i]->name;

		buf_reset(&path);
		/*
		 * An error is ignored: the next reftable_compact_all() removes
		 * the file, because the merged table covers it.
		 */
		if (!buf_printf(&path, "%s/%s", c->a.dir, name))
			sys_unlink(path.data, NULL);
	}
	buf_release(&path);
}

static int replace(struct compaction *c, struct error *err)
{
	struct sys_hold hold;
	int ret = reftable_append_list(&c->a, c->from, c->nr, err);

	sys_hold_signals(&hold);
	if (!ret)
		ret = reftable_append_commit(&c->a, err);
	if (!ret)
		remove_tables(c);
	sys_release_signals(&hold);
	return ret;
}

static void release(struct compaction *c)
{
	for (size_t i = 0; c->locks && i < c->nr; i++)
		sys_tempfile_abort(&c->locks[i]);
	free(c->locks);
	reftable_append_release(&c->a);
}

static int compact(struct compaction *c, struct error *err)
{
	struct reftable_stack old;
	int ret = lock_tables(c, err);

	if (ret <= 0)
		return ret;
	sys_tempfile_abort(&c->a.lock);
	ret = merge(c, err);
	old = c->a.stack;
	memset(&c->a.stack, 0, sizeof(c->a.stack));
	if (!ret)
		ret = relock(c, &old, err);
	if (!ret)
		ret = replace(c, err);
	reftable_stack_release(&old);
	return ret;
}

/*
 * Locks tables.list, and chooses the tables to merge. Returns 0 or a negative
 * error code.
 */
static int begin_auto(struct compaction *c, const char *dir,
		      const struct reftable_append_options *options,
		      struct error *err)
{
	int ret = reftable_append_begin(&c->a, dir, options, err);

	if (ret < 0)
		return ret;
	ret = choose(&c->a.stack, &c->a.options, 0, &c->from);
	c->nr = c->a.stack.nr - c->from;
	if (ret < 0) {
		error_nomem(err);
		release(c);
	}
	return ret;
}

int reftable_compact_is_due(const char *dir,
			    const struct reftable_append_options *options,
			    struct error *err)
{
	struct reftable_stack stack;
	size_t from;
	int ret = reftable_stack_open(&stack, dir, options->algo, err);

	if (ret < 0)
		return ret;
	ret = choose(&stack, options, 0, &from);
	ret = ret < 0 ? error_nomem(err) : stack.nr - from > 1;
	reftable_stack_release(&stack);
	return ret;
}

int reftable_compact_auto(const char *dir,
			  const struct reftable_append_options *options,
			  struct error *err)
{
	struct compaction c = {.must_merge = false};
	int ret = begin_auto(&c, dir, options, err);

	if (ret < 0)
		return ret;
	if (c.nr > 1)
		ret = compact(&c, err);
	release(&c);
	return ret;
}

int reftable_compact_all(const char *dir,
			 const struct reftable_append_options *options,
			 struct error *err)
{
	struct compaction c = {.must_merge = true};
	int ret = reftable_append_begin(&c.a, dir, options, err);

	if (ret < 0)
		return ret;
	ret = reftable_unlisted_remove(&c.a, err);
	c.nr = c.a.stack.nr;
	/*
	 * Merging a single table would change nothing, so at least two are
	 * needed.
	 */
	if (!ret && c.nr > 1)
		ret = compact(&c, err);
	release(&c);
	return ret;
}
