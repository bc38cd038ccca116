/* SPDX-License-Identifier: MIT */
/* git maintenance run --auto: decides whether a task is needed. */
#include <stdlib.h>
#include <string.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "base/sort.h"
#include "builtin/gc-parts.h"
#include "builtin/maintenance-parts.h"
#include "check/reflog-expire.h"
#include "graph-write/commit-graph-write.h"
#include "graph/commit-graph.h"
#include "odb/odb-midx.h"
#include "refs-write/ref-pack.h"
#include "refs/reflog.h"
#include "repack/geometric.h"
#include "repo/worktree.h"
#include "sys/clock.h"
#include "sys/io.h"

/*
 * Load maintenance.<task>.auto. Returns 1 if the task may be needed, and sets
 * *limit: the task is needed if it would find at least *limit things to work
 * on, such as loose objects. If *limit is 0, the task is always needed. Returns
 * 0 if the task is never needed, or a negative error code.
 */
static int load_limit(const struct maintenance *m, const char *key,
		      int64_t dflt, uint64_t *limit)
{
	int64_t value = dflt;

	*limit = 0;
	if (config_i64(&m->repo->config, key, &value, m->err) < 0)
		return ERR_INVALID;
	*limit = value > 0 ? (uint64_t)value : 0;
	return value != 0;
}

/*
 * Counts objects, packs or similar things until there are enough of them.
 * `limit`: the smallest number for which a task is needed.
 */
struct counting {
	uint64_t nr, limit;
};

static int count_one(struct counting *c)
{
	return ++c->nr >= c->limit;
}

int maintenance_needs_gc(const struct maintenance *m)
{
	bool all;

	return gc_is_needed(&all, m->repo, m->gc.auto_limit, m->gc.pack_limit,
			    m->err);
}

/* ---- objects and packs */

static int count_loose(void *ctx, const struct oid *oid, const char *path)
{
	(void)oid;
	(void)path;
	return count_one(ctx);
}

static int has_loose(const struct maintenance *m, const struct odb *odb,
		     uint64_t limit)
{
	struct counting c = {0, limit};

	return odb_each_loose(odb, true, count_loose, &c, m->err);
}

int maintenance_needs_loose_objects(const struct maintenance *m)
{
	uint64_t limit;
	int ret = load_limit(m, "maintenance.loose-objects.auto", 100, &limit);
	struct odb *odb;

	if (ret <= 0 || !limit)
		return ret;
	ret = odb_open(&odb, m->repo, NULL, m->err);
	if (ret < 0)
		return ret;
	ret = has_loose(m, odb, limit);
	odb_close(odb);
	return ret;
}

static bool is_indexed(const struct odb_midx *om, uint32_t pack_nr)
{
	for (; om; om = om->base)
		for (uint32_t i = 0; i < om->midx.pack_nr; i++)
			if (om->pack_nrs[i] == pack_nr)
				return true;
	return false;
}

int maintenance_needs_incremental_repack(const struct maintenance *m)
{
	struct counting c = {0, 0};
	struct odb *odb;
	int ret = load_limit(m, "maintenance.incremental-repack.auto", 10,
			     &c.limit);

	if (ret <= 0 || !c.limit)
		return ret;
	ret = odb_open_named(&odb, m->repo, NULL, m->err);
	if (ret < 0)
		return ret;
	for (uint32_t i = 0; odb->use_midx && i < odb->pack_nr && !ret; i++)
		if (odb->packs[i].pack->is_local &&
		    !is_indexed(odb->midxes[0], i))
			ret = count_one(&c);
	odb_close(odb);
	return ret;
}

int maintenance_split_factor(const struct maintenance *m, uint64_t *factor)
{
	*factor = 2;
	return config_u64(&m->repo->config,
			  "maintenance.geometric-repack.splitfactor", factor,
			  m->err) < 0
		       ? ERR_INVALID
		       : 0;
}

int maintenance_geometry(const struct maintenance *m, const struct odb *odb,
			 uint64_t factor, size_t *first, size_t *nr)
{
	struct sort_item *items = mem_alloc(odb->pack_nr, sizeof(*items));
	uint32_t *counts = mem_alloc(odb->pack_nr, sizeof(*counts));
	int ret = items && counts ? 0 : ERR_NOMEM;

	*nr = 0;
	for (uint32_t i = 0; i < odb->pack_nr && !ret; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (pack->is_local && !pack->is_kept && !pack->is_cruft &&
		    !pack->is_promisor)
			items[(*nr)++].key = pack->idx.nr;
	}
	if (!ret)
		ret = sort_items(items, *nr);
	for (size_t i = 0; i < *nr && !ret; i++)
		counts[i] = (uint32_t)items[i].key;
	if (!ret)
		*first = geometric_split(counts, *nr, factor);
	free(items);
	free(counts);
	return ret < 0 ? error_nomem(m->err) : 0;
}

int maintenance_needs_geometric_repack(const struct maintenance *m)
{
	uint64_t limit, factor;
	size_t first, nr;
	struct odb *odb;
	int ret = load_limit(m, "maintenance.geometric-repack.auto", 100,
			     &limit);

	if (ret <= 0 || !limit)
		return ret;
	ret = maintenance_split_factor(m, &factor);
	if (!ret)
		ret = odb_open_named(&odb, m->repo, NULL, m->err);
	if (ret < 0)
		return ret;
	ret = maintenance_geometry(m, odb, factor, &first, &nr);
	if (!ret)
		ret = first ? 1 : gc_has_many_loose(m->repo, limit, m->err);
	odb_close(odb);
	return ret;
}

/* ---- commits */

int maintenance_needs_commit_graph(const struct maintenance *m)
{
	uint64_t limit;
	int ret = load_limit(m, "maintenance.commit-graph.auto", 100, &limit);

	if (ret > 0)
		ret = commit_graph_is_writable(m->repo, m->err);
	if (ret <= 0 || !limit)
		return ret;
	return graph_lacks_commits(m->repo, limit, m->err);
}

/* ---- refs and reflogs */

static bool wants_ref(void *ctx, const char *name)
{
	(void)ctx, (void)name;
	return true;
}

int maintenance_needs_pack_refs(const struct maintenance *m)
{
	const struct ref_pack_options all = {.wants = wants_ref};

	return ref_pack_is_due(m->repo, &all, m->err);
}

int maintenance_needs_reflog_expire(const struct maintenance *m)
{
	struct counting c = {0, 0};
	struct reflog log = REFLOG_INIT;
	struct reflog_limits limits;
	int ret = load_limit(m, "maintenance.reflog-expire.auto", 100,
			     &c.limit);

	if (ret <= 0 || !c.limit)
		return ret;
	ret = reflog_limits_load(&limits, &m->repo->config, "HEAD",
				 sys_clock_seconds(), m->err);
	if (!ret)
		ret = reflog_read(&log, m->repo, "HEAD", m->err);
	ret = ret < 0 ? ret : 0;
	for (size_t i = 0; i < log.nr && !ret; i++)
		if (log.lines[i].time < limits.total)
			ret = count_one(&c);
	reflog_release(&log);
	return ret;
}

/* ---- other directories */

/*
 * Counts the linked work trees that have been missing for long enough to be
 * pruned.
 */
struct prunable {
	struct counting count;
	int64_t expiry;
};

/*
 * Find whether a linked work tree has been missing for long enough to be
 * pruned. Returns 1 if so, 0 if not, or a negative error code.
 */
static int is_prunable(const struct prunable *p, const char *git_dir)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = worktree_git_file(&path, git_dir);

	if (ret > 0 && sys_exists(path.data)) {
		ret = 0;
	} else if (ret >= 0) {
		buf_reset(&path);
		ret = buf_printf(&path, "%s/gitdir", git_dir);
		if (!ret)
			ret = sys_stat(&st, path.data, NULL) < 0 ||
			      st.mtime_ns / 1000000000 <= p->expiry;
	}
	buf_release(&path);
	return ret;
}

static int check_worktree(void *ctx, const char *name, const char *git_dir)
{
	struct prunable *p = ctx;
	struct buf lock = BUF_INIT;
	int ret = buf_printf(&lock, "%s/locked", git_dir);

	(void)name;
	if (!ret && !sys_exists(lock.data))
		ret = is_prunable(p, git_dir);
	buf_release(&lock);
	return ret > 0 ? count_one(&p->count) : ret;
}

int maintenance_needs_worktree_prune(const struct maintenance *m)
{
	struct prunable p = {.count = {0, 0}};
	int ret = load_limit(m, "maintenance.worktree-prune.auto", 1,
			     &p.count.limit);

	if (ret <= 0 || !p.count.limit)
		return ret;
	if (approxidate_parse_expiry(&p.expiry, m->gc.worktree_prune,
				     sys_clock_seconds()) < 0)
		/*
		 * If an error occurs, let `git worktree prune` run, which
		 * reports the error.
		 */
		return 1;
	return worktree_each(m->repo, check_worktree, &p, m->err);
}

static int count_name(void *ctx, const char *name)
{
	(void)name;
	return count_one(ctx);
}

int maintenance_needs_rerere_gc(const struct maintenance *m)
{
	struct counting c = {0, 1};
	uint64_t limit;
	int ret = load_limit(m, "maintenance.rerere-gc.auto", 1, &limit);
	char *dir;

	if (ret <= 0 || !limit)
		return ret;
	dir = repo_common_path(m->repo, "rr-cache");
	if (!dir)
		return error_nomem(m->err);
	ret = sys_dir_each(dir, count_name, &c, m->err);
	free(dir);
	return ret == ERR_MISSING ? 0 : ret;
}
