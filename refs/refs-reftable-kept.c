/* SPDX-License-Identifier: MIT */
/*
 * The reftable backend: visits the objects that must be kept because HEADs,
 * per-worktree refs or reflogs of any work tree name them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs/refs-loose.h"
#include "refs/refs-reftable.h"
#include "repo/worktree.h"
#include "sys/io.h"

struct keeper {
	const struct repo *repo;
	int (*fn)(void *ctx, const struct oid *oid);
	void *ctx;
	struct error *err;
};

static int report(struct keeper *k, const struct oid *oid)
{
	return oid_is_zero(oid) ? 0 : k->fn(k->ctx, oid);
}

static int keep_record(struct keeper *k, const struct reftable_iter *it)
{
	int ret;

	if (it->type == REFTABLE_LOGS) {
		ret = report(k, &it->log.old_oid);
		return ret ? ret : report(k, &it->log.new_oid);
	}
	/*
	 * Only per-worktree refs are visited here. refs_each() visits shared
	 * refs.
	 */
	if (it->ref.value == REFTABLE_SYMBOLIC ||
	    !refs_loose_is_per_worktree(it->ref.name))
		return 0;
	return report(k, &it->ref.oid);
}

static int keep_section(struct keeper *k, struct reftable_merged *m,
			enum reftable_block_type type)
{
	const struct reftable_iter *it;
	int ret = reftable_merged_seek(m, type, "", 0, k->err);

	while (!ret) {
		ret = reftable_merged_next(m, &it, k->err);
		if (ret <= 0)
			break;
		ret = keep_record(k, it);
	}
	return ret;
}

static int keep_stack(struct keeper *k, const char *dir)
{
	struct reftable_merged m;
	struct reftable_stack stack;
	int ret = reftable_stack_open(&stack, dir, k->repo->algo, k->err);

	if (ret < 0)
		return ret;
	ret = reftable_merged_init(&m, stack.tables, stack.nr, false, k->err);
	if (!ret) {
		ret = keep_section(k, &m, REFTABLE_REFS);
		if (!ret)
			ret = keep_section(k, &m, REFTABLE_LOGS);
		reftable_merged_release(&m);
	}
	reftable_stack_release(&stack);
	return ret;
}

static int keep_git_dir(void *ctx, const char *name, const char *git_dir)
{
	struct keeper *k = ctx;
	struct buf dir = BUF_INIT;
	int ret = buf_printf(&dir, "%s/reftable", git_dir);

	(void)name;
	ret = ret < 0 ? error_nomem(k->err) : keep_stack(k, dir.data);
	buf_release(&dir);
	return ret;
}

int refs_reftable_each_kept(const struct repo *repo,
			    int (*fn)(void *ctx, const struct oid *oid),
			    void *ctx, struct error *err)
{
	struct keeper k = {repo, fn, ctx, err};
	int ret = keep_git_dir(&k, "", repo_refs_common_dir(repo));

	return ret ? ret : worktree_each_refs(repo, keep_git_dir, &k, err);
}
