/* SPDX-License-Identifier: MIT */
/*
 * The tasks of git maintenance. Each task runs other commands, as in stock Git.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/child.h"
#include "builtin/gc-parts.h"
#include "builtin/maintenance-parts.h"
#include "graph/commit-graph.h"
#include "sys/spawn.h"

/* Default of the maximum number of loose objects that one run packs. */
#define BATCH_DEFAULT 50000

/* Makes a struct child_words of "git" and these arguments. */
#define COMMAND(...) child_git((const char *const[]){__VA_ARGS__, NULL})

static int run(const struct maintenance *m, struct child_words *w)
{
	return child_run(w, m->repo, m->err);
}

static void add_quiet(const struct maintenance *m, struct child_words *w)
{
	if (m->quiet)
		child_add(w, "--quiet");
}

static void add_progress(const struct maintenance *m, struct child_words *w)
{
	child_add(w, m->quiet ? "--no-progress" : "--progress");
}

/* ---- refs and reflogs */

static int pack_refs(const struct maintenance *m)
{
	struct child_words w = COMMAND("pack-refs", "--all", "--prune");

	if (m->automatic)
		child_add(&w, "--auto");
	return run(m, &w);
}

static int expire_reflogs(const struct maintenance *m)
{
	struct child_words w = COMMAND("reflog", "expire", "--all");

	return run(m, &w);
}

/* ---- gc */

static int before_gc(const struct maintenance *m)
{
	int ret = m->gc.pack_refs ? pack_refs(m) : 0;
	int expired = ret == 0 || ret == ERR_PEER ? expire_reflogs(m) : 0;

	return ret ? ret : expired;
}

static int gc(const struct maintenance *m)
{
	struct child_words w = COMMAND("gc");

	if (m->automatic)
		child_add(&w, "--auto");
	child_add(&w, m->quiet ? "--quiet" : "--no-quiet");
	child_add(&w, "--no-detach");
	child_add(&w, "--skip-foreground-tasks");
	return run(m, &w);
}

/* ---- packs */

static bool uses_midx(const struct maintenance *m)
{
	bool use = true;

	config_bool(&m->repo->config, "core.multipackindex", &use, NULL);
	return use;
}

/*
 * Repack so that the sizes of packs form a geometric progression. If joining
 * some packs is enough, joins only these. If all packs would be joined, repacks
 * all objects into one pack, and handles unreachable objects as gc does.
 */
static int geometric_repack(const struct maintenance *m)
{
	struct child_words w;
	struct odb *odb;
	uint64_t factor;
	size_t first = 0, nr = 0;
	int ret = maintenance_split_factor(m, &factor);

	if (!ret)
		ret = odb_open_named(&odb, m->repo, NULL, m->err);
	if (ret < 0)
		return ret;
	ret = maintenance_geometry(m, odb, factor, &first, &nr);
	odb_close(odb);
	if (ret < 0)
		return ret;
	w = COMMAND("repack", "-d", "-l");
	if (first < nr)
		child_add(&w, "--geometric=%" PRIu64, factor);
	else
		gc_add_unreachable(&w, &m->gc, NULL);
	add_quiet(m, &w);
	if (uses_midx(m))
		child_add(&w, "--write-midx");
	return run(m, &w);
}

/*
 * Choose the batch size of the incremental repack: one byte more than the size
 * of the second largest pack.
 */
static int choose_batch_size(const struct maintenance *m, uint64_t *size)
{
	struct gc_packs packs = {NULL, 0, 0};
	uint64_t largest = 0, second = 0;
	int ret = gc_packs_list(&packs, m->repo, m->err);

	for (size_t i = 0; i < packs.nr; i++) {
		uint64_t len = packs.packs[i].size;

		if (len > largest) {
			second = largest;
			largest = len;
		} else if (len > second) {
			second = len;
		}
	}
	gc_packs_release(&packs);
	*size = second < INT32_MAX ? second + 1 : INT32_MAX;
	return ret;
}

static int incremental_repack(const struct maintenance *m)
{
	struct child_words w;
	uint64_t size = 0;
	int ret;

	if (!uses_midx(m)) {
		builtin_warn("skipping incremental-repack task because "
			     "core.multiPackIndex is disabled");
		return 0;
	}
	w = COMMAND("multi-pack-index", "write");
	add_progress(m, &w);
	ret = run(m, &w);
	if (ret < 0)
		return ret;
	w = COMMAND("multi-pack-index", "expire");
	add_progress(m, &w);
	ret = run(m, &w);
	if (!ret)
		ret = choose_batch_size(m, &size);
	if (ret < 0)
		return ret;
	w = COMMAND("multi-pack-index", "repack");
	add_progress(m, &w);
	child_add(&w, "--batch-size=%" PRIu64, size);
	return run(m, &w);
}

/* ---- loose objects */

struct batch {
	struct buf lines; /* ids */
	uint64_t nr, limit;
	enum hash_algo algo;
};

/*
 * Add a loose object to the batch. Returns 1 if the batch is full, 0 if not, or
 * ERR_NOMEM.
 */
static int add_loose(void *ctx, const struct oid *oid, const char *path)
{
	struct batch *b = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	(void)path;
	if (buf_printf(&b->lines, "%s\n", oid_to_hex(hex, oid, b->algo)) < 0)
		return ERR_NOMEM;
	return ++b->nr == b->limit;
}

static int list_loose(const struct maintenance *m, struct batch *b)
{
	struct odb *odb;
	int ret = odb_open(&odb, m->repo, NULL, m->err);

	if (ret < 0)
		return ret;
	ret = odb_each_loose(odb, true, add_loose, b, m->err);
	odb_close(odb);
	return ret == ERR_NOMEM ? error_nomem(m->err) : ret < 0 ? ret : 0;
}

/* Ignore the command's output, which is the checksum of the pack. */
static int pass_over(void *ctx, const char *bytes, size_t len,
		     struct error *err)
{
	(void)ctx, (void)bytes, (void)len, (void)err;
	return 0;
}

/* Write the pack "loose-<checksum>.pack" with one batch of loose objects. */
static int pack_batch(const struct maintenance *m, const struct batch *b)
{
	struct child_words w = COMMAND("pack-objects");
	const struct sys_talk talk = {
		.input = b->lines.data,
		.input_len = b->lines.len,
		.output = pass_over,
	};
	struct sys_child child;
	int ret, code;

	child_add(&w, m->quiet ? "--quiet" : "--no-quiet");
	child_add(&w, "%s/pack/loose", m->repo->object_dir);
	ret = w.failed ? error_nomem(m->err)
		       : sys_spawn(&child, w.items, NULL,
				   SYS_SPAWN_PIPE_IN | SYS_SPAWN_PIPE_OUT,
				   m->err);
	child_words_release(&w);
	if (ret < 0)
		return ret;
	ret = sys_spawn_talk(&child, &talk, m->err);
	code = sys_spawn_wait(&child, ret ? NULL : m->err);
	if (!ret && code)
		ret = code < 0 ? code
			       : error_set(m->err, ERR_PEER,
					   "'git pack-objects' process "
					   "failed");
	return ret;
}

/*
 * First remove the loose objects that are in packs, then pack the other loose
 * objects. The newly packed objects also stay loose until the next run. So a
 * process that has found such a loose object can still read it.
 */
static int loose_objects(const struct maintenance *m)
{
	struct child_words w = COMMAND("prune-packed");
	struct batch b = {BUF_INIT, 0, BATCH_DEFAULT, m->repo->algo};
	int ret;

	add_quiet(m, &w);
	ret = run(m, &w);
	if (!ret &&
	    config_u64(&m->repo->config, "maintenance.loose-objects.batchsize",
		       &b.limit, m->err) < 0)
		ret = ERR_INVALID;
	if (!ret)
		ret = list_loose(m, &b);
	if (!ret && b.nr)
		ret = pack_batch(m, &b);
	buf_release(&b.lines);
	return ret;
}

/* ---- the other tasks */

static int write_commit_graph(const struct maintenance *m)
{
	int ret = commit_graph_is_writable(m->repo, m->err);
	struct child_words w;

	if (ret <= 0)
		return ret;
	w = COMMAND("commit-graph", "write", "--split", "--reachable");
	add_progress(m, &w);
	return run(m, &w);
}

static int prune_worktrees(const struct maintenance *m)
{
	struct child_words w = COMMAND("worktree", "prune", "--expire");

	child_add(&w, "%s", m->gc.worktree_prune);
	return child_run_stock(&w, m->repo, "worktrees", m->err);
}

static int clean_rerere(const struct maintenance *m)
{
	struct child_words w = COMMAND("rerere", "gc");

	return child_run_stock(&w, m->repo, "rr-cache", m->err);
}

struct fetching {
	const struct maintenance *m;
	/* the error code of the first fetch that failed; 0: none failed */
	int ret;
};

/*
 * Fetch the remote <name> if `entry` is the last value of "remote.<name>.url"
 * in the configuration. Does nothing for other entries, or if
 * remote.<name>.skipFetchAll is true.
 */
static int fetch_remote(void *ctx, const struct config_entry *entry)
{
	struct fetching *f = ctx;
	const struct config *config = &f->m->repo->config;
	const char *name = strchr(entry->key, '.') + 1;
	const char *dot = strrchr(name, '.');
	struct buf key = BUF_INIT;
	struct child_words w;
	bool skip = false;
	int ret = 0;

	if (!dot || strcmp(dot, ".url") != 0 ||
	    config_find(config, entry->key) != entry)
		return 0;
	if (buf_printf(&key, "remote.%.*s.skipfetchall", (int)(dot - name),
		       name) < 0)
		return ERR_NOMEM;
	config_bool(config, key.data, &skip, NULL);
	if (!skip) {
		w = COMMAND("fetch");
		child_add(&w, "%.*s", (int)(dot - name), name);
		child_add(&w, "--prefetch");
		child_add(&w, "--prune");
		child_add(&w, "--no-tags");
		child_add(&w, "--no-write-fetch-head");
		child_add(&w, "--recurse-submodules=no");
		add_quiet(f->m, &w);
		ret = run(f->m, &w);
	}
	buf_release(&key);
	if (ret < 0)
		f->ret = ret;
	return ret == ERR_NOMEM ? ret : 0;
}

/* Fetch every remote, even if an earlier one has failed. */
static int prefetch(const struct maintenance *m)
{
	struct fetching f = {m, 0};
	int ret = config_each(&m->repo->config, "remote.", fetch_remote, &f);

	return ret < 0 ? error_nomem(m->err) : f.ret;
}

const struct maintenance_task maintenance_tasks[MAINTENANCE_TASK_NR] = {
	[MAINTENANCE_PREFETCH] = {"prefetch", NULL, prefetch, NULL, false},
	[MAINTENANCE_LOOSE_OBJECTS] = {"loose-objects", NULL, loose_objects,
				       maintenance_needs_loose_objects, false},
	[MAINTENANCE_INCREMENTAL_REPACK] =
		{"incremental-repack", NULL, incremental_repack,
		 maintenance_needs_incremental_repack, false},
	[MAINTENANCE_GEOMETRIC_REPACK] = {"geometric-repack", NULL,
					  geometric_repack,
					  maintenance_needs_geometric_repack,
					  true},
	[MAINTENANCE_GC] = {"gc", before_gc, gc, maintenance_needs_gc, false},
	[MAINTENANCE_COMMIT_GRAPH] = {"commit-graph", NULL, write_commit_graph,
				      maintenance_needs_commit_graph, false},
	[MAINTENANCE_PACK_REFS] = {"pack-refs", pack_refs, NULL,
				   maintenance_needs_pack_refs, false},
	[MAINTENANCE_REFLOG_EXPIRE] = {"reflog-expire", expire_reflogs, NULL,
				       maintenance_needs_reflog_expire, false},
	[MAINTENANCE_WORKTREE_PRUNE] = {"worktree-prune", NULL, prune_worktrees,
					maintenance_needs_worktree_prune,
					false},
	[MAINTENANCE_RERERE_GC] = {"rerere-gc", NULL, clean_rerere,
				   maintenance_needs_rerere_gc, false},
};
