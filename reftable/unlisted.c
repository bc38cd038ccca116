/* SPDX-License-Identifier: MIT */
/*
 * Tables that tables.list does not name.
 *
 * A killed process leaves such tables: the tables that it has merged, or a new
 * table that is in no list yet. But if tables.list was lost, for example at a
 * power failure, an unlisted table may be the only copy of refs. So a table is
 * removed only if the listed tables cover all its update indexes.
 */
#include <string.h>

#include "base/affix.h"
#include "reftable/append-internal.h"
#include "sys/io.h"

struct search {
	const char *dir;
	const struct reftable_stack *stack;
	enum hash_algo algo;
	/* called for each unlisted table that is valid; returns 0 or an error
	 */
	int (*found)(struct search *s, const struct reftable *table);
	/* the largest update index of the unlisted tables; 0: no tables */
	uint64_t max_index;
	struct error *err;
};

static bool is_listed(const struct reftable_stack *stack, const char *name)
{
	for (size_t i = 0; i < stack->nr; i++)
		if (!strcmp(stack->tables[i]->name, name))
			return true;
	return false;
}

/* An invalid table is skipped: its update indexes are unknown. */
static int look_at(void *ctx, const char *name)
{
	struct search *s = ctx;
	struct reftable *table;
	int ret;

	if (!ends_with(name, ".ref") || is_listed(s->stack, name))
		return 0;
	ret = reftable_open(&table, s->dir, name, s->algo, NULL);
	if (ret == ERR_NOMEM)
		return error_nomem(s->err);
	if (ret < 0)
		return 0;
	ret = s->found(s, table);
	reftable_close(table);
	return ret;
}

/*
 * Returns whether each update index of the table is an update index of a listed
 * table. The listed tables have ascending update indexes.
 */
static bool is_covered(const struct reftable_stack *stack,
		       const struct reftable *table)
{
	uint64_t next = table->file.footer.min_index;
	uint64_t last = table->file.footer.max_index;
	bool is_empty_range = next > last;

	for (size_t i = 0; i < stack->nr; i++) {
		const struct reftable_footer *f =
			&stack->tables[i]->file.footer;

		if (f->min_index <= next && next <= f->max_index)
			next = f->max_index + 1;
	}
	return !is_empty_range && next > last;
}

static int remove_covered(struct search *s, const struct reftable *table)
{
	struct buf path = BUF_INIT;

	if (!is_covered(s->stack, table))
		return 0;
	if (buf_printf(&path, "%s/%s", s->dir, table->name) < 0)
		return error_nomem(s->err);
	sys_unlink(path.data, NULL);
	buf_release(&path);
	return 0;
}

int reftable_unlisted_remove(const struct reftable_append *a, struct error *err)
{
	struct search s = {
		.dir = a->dir,
		.stack = &a->stack,
		.algo = a->options.algo,
		.found = remove_covered,
		.err = err,
	};

	return sys_dir_each(a->dir, look_at, &s, err);
}

static int raise_max(struct search *s, const struct reftable *table)
{
	uint64_t index = table->file.footer.max_index;

	if (index > s->max_index)
		s->max_index = index;
	return 0;
}

int reftable_unlisted_max_index(uint64_t *max_index,
				const struct reftable_stack *stack,
				const char *dir, enum hash_algo algo,
				struct error *err)
{
	struct search s = {
		.dir = dir,
		.stack = stack,
		.algo = algo,
		.found = raise_max,
		.err = err,
	};
	int ret = sys_dir_each(dir, look_at, &s, err);

	*max_index = s.max_index;
	return ret == ERR_MISSING ? 0 : ret;
}
