/* SPDX-License-Identifier: MIT */
/*
 * Checks stacks of reftables: the names and the form of the tables, and the
 * targets of symbolic refs. If a value is malformed, its table counts as
 * broken.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs/refs-check.h"
#include "reftable/stack.h"
#include "reftable/table.h"
#include "repo/worktree.h"

struct checker {
	struct refs_check *c;
	const struct repo *repo;
	struct reftable_names symbolic; /* of the present stack */
	struct error *err;
};

/*
 * Returns the position after the hexadecimal number at p, or NULL if there is
 * no number. The number may begin with "0x".
 */
static const char *skip_number(const char *p)
{
	const char *start;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (start = p; isxdigit((unsigned char)*p); p++)
		;
	return p > start ? p : NULL;
}

/*
 * Returns whether a name has the form "<from>-<to>-<random>.ref" or
 * "<from>-<to>-<random>.log".
 */
static bool is_table_name(const char *name)
{
	static const char *const ends[] = {"-", "-", ""};

	for (size_t i = 0; i < ARRAY_NR(ends); i++) {
		size_t len = strlen(ends[i]);

		name = skip_number(name);
		if (!name || strncmp(name, ends[i], len) != 0)
			return false;
		name += len;
	}
	return !strcmp(name, ".ref") || !strcmp(name, ".log");
}

static int check_table(struct checker *k, const struct reftable *table)
{
	struct buf at = BUF_INIT;
	int ret = 0;

	if (k->c->looking && !buf_printf(&at, "table: %s", table->name))
		k->c->looking(k->c->ctx, at.data);
	buf_release(&at);
	if (!is_table_name(table->name))
		ret = refs_check_complain(k->c, table->name,
					  FSCK_BAD_REFTABLE_TABLE_NAME, k->err,
					  "invalid reftable table name");
	return ret ? ret : reftable_verify(table, &k->symbolic, k->err);
}

static int check_record(struct checker *k, const char *prefix,
			const struct reftable_ref *ref)
{
	struct buf name = BUF_INIT, target = BUF_INIT;
	int ret;

	if (ref->value != REFTABLE_SYMBOLIC)
		return 0;
	if (buf_printf(&name, "%s%s", prefix, ref->name) < 0 ||
	    buf_append(&target, ref->target, ref->target_len) < 0)
		ret = error_nomem(k->err);
	else
		ret = refs_check_target(k->c, name.data, target.data, k->err);
	buf_release(&name);
	buf_release(&target);
	return ret;
}

/*
 * Checks the targets of symbolic refs. The verification of the tables has noted
 * the names of the first and the last symbolic ref (k->symbolic). Only the
 * records from the first to the last name are read. This saves much time,
 * because HEAD is often the only symbolic ref: then only one record is read.
 * Returns 0 or a negative error code.
 */
static int check_records(struct checker *k, const struct reftable_stack *stack,
			 const char *prefix)
{
	const struct buf *first = &k->symbolic.first, *last = &k->symbolic.last;
	const struct reftable_iter *it;
	struct reftable_merged m;
	int ret;

	if (!first->len)
		return 0;
	ret = reftable_merged_init(&m, stack->tables, stack->nr, false, k->err);
	if (ret < 0)
		return ret;
	ret = reftable_merged_seek(&m, REFTABLE_REFS, first->data, first->len,
				   k->err);
	while (!ret) {
		ret = reftable_merged_next(&m, &it, k->err);
		if (ret <= 0 || strcmp(it->ref.name, last->data) > 0)
			break;
		ret = check_record(k, prefix, &it->ref);
	}
	reftable_merged_release(&m);
	return ret < 0 ? ret : 0;
}

static int check_stack(struct checker *k, const char *git_dir,
		       const char *prefix)
{
	struct reftable_stack stack;
	struct buf dir = BUF_INIT;
	int ret;

	if (k->c->looking)
		k->c->looking(k->c->ctx, "references consistency");
	if (buf_printf(&dir, "%s/reftable", git_dir) < 0)
		ret = error_nomem(k->err);
	else
		ret = reftable_stack_open(&stack, dir.data, k->repo->algo,
					  k->err);
	buf_release(&dir);
	if (ret < 0)
		return ret;
	k->symbolic = (struct reftable_names)REFTABLE_NAMES_INIT;
	for (size_t i = 0; !ret && i < stack.nr; i++)
		ret = check_table(k, stack.tables[i]);
	if (!ret)
		ret = check_records(k, &stack, prefix);
	reftable_names_release(&k->symbolic);
	reftable_stack_release(&stack);
	return ret;
}

static int check_worktree(void *ctx, const char *name, const char *git_dir)
{
	struct checker *k = ctx;
	struct buf prefix = BUF_INIT;
	int ret = buf_printf(&prefix, "worktrees/%s/", name);

	ret = ret < 0 ? error_nomem(k->err)
		      : check_stack(k, git_dir, prefix.data);
	buf_release(&prefix);
	return ret;
}

int refs_check_reftable(struct refs_check *c, const struct repo *repo,
			struct error *err)
{
	struct checker k = {.c = c, .repo = repo, .err = err};
	int ret = check_stack(&k, repo_refs_common_dir(repo), "");

	return ret ? ret : worktree_each_refs(repo, check_worktree, &k, err);
}
