/* SPDX-License-Identifier: MIT */
/*
 * git gc: packs refs, expires reflogs, repacks, prunes, and writes a
 * commit-graph.
 *
 * Each step is a command that runs as a child process, as in stock Git. So each
 * step takes a new snapshot of the repository after the previous step, and its
 * memory is freed at its end. Steps that we do not implement run stock Git
 * (worktree prune, rerere gc). The order is important: reflogs are expired
 * before reachable objects are determined, and repack runs before prune,
 * because repack may leave objects loose.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/child.h"
#include "builtin/gc-parts.h"
#include "builtin/hook-run.h"
#include "packs/old-packs.h"
#include "sys/io.h"
#include "sys/spawn.h"
#include "sys/trace.h"

/* One run of the command. */
struct run {
	struct gc_args a;
	struct gc_settings s;
	struct repo *repo; /* borrowed */
	/*
	 * true: extensions.preciousObjects is set, so no object may be deleted
	 */
	bool is_precious;
	/* true: repack all packs; false: only pack loose objects */
	bool all;
	/* true: a step has failed, and gc went on with the next step */
	bool left_out;
	/* true: repack has failed, so prune must not run */
	bool packs_stay;
	/* the new gc.log; used only if gc runs in the background */
	struct sys_tempfile log;
	struct error *err;
};

/* ---- the steps */

static int pack_refs(struct run *r)
{
	static const char *const words[] = {"pack-refs", "--all", "--prune",
					    NULL};
	struct child_words w;

	if (!r->s.pack_refs || r->a.skip_foreground)
		return 0;
	w = child_git(words);
	if (r->a.automatic)
		child_add(&w, "--auto");
	return child_run(&w, r->repo, r->err);
}

static int expire_reflogs(struct run *r)
{
	static const char *const words[] = {"reflog", "expire", "--all", NULL};
	struct child_words w;

	if (r->a.skip_foreground)
		return 0;
	w = child_git(words);
	return child_run(&w, r->repo, r->err);
}

/*
 * Add the options about packs that stay as they are (--keep-largest-pack,
 * gc.bigPackThreshold) to the call of git repack.
 */
static int add_kept(struct run *r, struct child_words *w)
{
	uint64_t threshold = r->a.keep_largest > 0 ? 0 : r->s.big_pack;
	struct gc_packs list = {NULL, 0, 0};
	size_t nr;
	int ret;

	if (r->a.keep_largest <= 0 && !threshold)
		return 0;
	ret = gc_packs_list(&list, r->repo, r->err);
	nr = gc_packs_keep(&list, threshold);
	/*
	 * If gc kept as many packs as gc.autoPackLimit, each gc --auto would
	 * repack again. In this case, keep only the largest pack.
	 */
	if (r->a.automatic && r->s.pack_limit && nr >= r->s.pack_limit)
		gc_packs_keep(&list, 0);
	for (size_t i = 0; i < list.nr && !ret; i++)
		if (list.packs[i].stays)
			child_add(w, "--keep-pack=%s", list.packs[i].name);
	gc_packs_release(&list);
	return ret;
}

static int repack(struct run *r)
{
	static const char *const words[] = {"repack", "-d", "-l", NULL};
	struct child_words w;
	int ret = 0;

	if (r->is_precious)
		return 0;
	w = child_git(words);
	if (r->a.aggressive) {
		child_add(&w, "-f");
		if (r->s.depth)
			child_add(&w, "--depth=%" PRIu64, r->s.depth);
		if (r->s.window)
			child_add(&w, "--window=%" PRIu64, r->s.window);
	}
	if (r->a.quiet)
		child_add(&w, "-q");
	if (r->all) {
		gc_add_unreachable(&w, &r->s, r->a.expire_to);
		ret = add_kept(r, &w);
	} else {
		child_add(&w, "--no-write-bitmap-index");
	}
	if (r->s.filter && *r->s.filter && r->all)
		child_add(&w, "--filter=%s", r->s.filter);
	if (r->s.filter_to && *r->s.filter_to && r->all)
		child_add(&w, "--filter-to=%s", r->s.filter_to);
	if (!ret)
		return child_run(&w, r->repo, r->err);
	child_words_release(&w);
	return ret;
}

static int prune(struct run *r)
{
	static const char *const words[] = {"prune", "--expire", NULL};
	struct child_words w;

	if (r->is_precious || !r->s.prune || r->packs_stay)
		return 0;
	w = child_git(words);
	child_add(&w, "%s", r->s.prune);
	if (r->a.quiet)
		child_add(&w, "--no-progress");
	return child_run(&w, r->repo, r->err);
}

static int prune_worktrees(struct run *r)
{
	static const char *const words[] = {"worktree", "prune", "--expire",
					    NULL};
	struct child_words w = child_git(words);

	child_add(&w, "%s", r->s.worktree_prune);
	return child_run_stock(&w, r->repo, "worktrees", r->err);
}

static int clean_rerere(struct run *r)
{
	static const char *const words[] = {"rerere", "gc", NULL};
	struct child_words w = child_git(words);

	return child_run_stock(&w, r->repo, "rr-cache", r->err);
}

static int write_commit_graph(struct run *r)
{
	static const char *const words[] = {"commit-graph", "write",
					    "--reachable", NULL};
	struct child_words w;

	int ret = r->s.commit_graph ? gc_borrows_graph(r->repo, r->err) : 0;

	if (!r->s.commit_graph || ret < 0)
		return ret;
	w = child_git(words);
	if (ret)
		child_add(&w, "--split");
	if (r->a.quiet || !isatty(STDERR_FILENO))
		child_add(&w, "--no-progress");
	return child_run(&w, r->repo, r->err);
}

/*
 * Returns 1 if another process holds the lock of the multi-pack-index, 0 if
 * not, or ERR_NOMEM.
 */
static int is_midx_locked(const struct repo *repo)
{
	static const char *const names[] = {
		"pack/multi-pack-index.lock",
		"pack/multi-pack-index.d/multi-pack-index-chain.lock",
	};
	int ret = 0;

	for (size_t i = 0; i < ARRAY_NR(names) && !ret; i++) {
		char *path = repo_object_path(repo, names[i]);

		ret = path ? sys_exists(path) : ERR_NOMEM;
		free(path);
	}
	return ret;
}

/*
 * Run one step of gc. Returns 0 if gc shall go on, or a negative error code if
 * gc must stop. If a step fails but the next steps are still safe and useful,
 * prints the error and returns 0.
 */
static int run_step(struct run *r, int (*step)(struct run *r))
{
	bool is_repack = step == repack;
	int ret = step(r), locked;

	if (ret != ERR_PEER || step == prune || step == write_commit_graph)
		return ret;
	/*
	 * Stop after a failed repack, because objects may be damaged. But go on
	 * if repack failed only because another process holds the lock of the
	 * multi-pack-index.
	 */
	locked = is_repack ? is_midx_locked(r->repo) : 1;
	if (locked <= 0)
		return locked < 0 ? error_nomem(r->err) : ret;
	r->packs_stay |= is_repack;
	r->left_out = true;
	builtin_error("%s", r->err->msg);
	return 0;
}

/* Remove the side files of packs that have no .pack file. */
static int clean_packs(struct run *r)
{
	char *dir;
	int ret;

	if (r->is_precious || r->packs_stay)
		return 0;
	dir = repo_object_path(r->repo, "pack");
	ret = dir ? old_packs_remove_lone(dir, r->err) : error_nomem(r->err);
	free(dir);
	return ret;
}

static int run_steps(struct run *r)
{
	static int (*const steps[])(struct run * r) = {
		pack_refs,   expire_reflogs,     repack,
		prune,       prune_worktrees,    clean_rerere,
		clean_packs, write_commit_graph,
	};
	int ret = 0;

	for (size_t i = 0; i < ARRAY_NR(steps) && !ret; i++)
		ret = run_step(r, steps[i]);
	if (!ret && r->a.automatic &&
	    gc_has_many_loose(r->repo, r->s.auto_limit, NULL) > 0)
		builtin_warn("There are too many unreachable loose objects; "
			     "run 'git prune' to remove them.");
	return ret;
}

/* ---- --auto */

/*
 * Ask the hook pre-auto-gc whether gc may run. Returns 1 if so, 0 if not, or a
 * negative error code.
 */
static int ask_hooks(struct run *r)
{
	const struct hook_call call = {.repo = r->repo, .event = "pre-auto-gc"};
	int ret = hook_run(&call, r->err);

	return ret < 0 ? ret : !ret;
}

static void announce(const struct run *r)
{
	if (r->a.quiet)
		return;
	fprintf(stderr,
		"Auto packing the repository %sfor optimum performance.\n"
		"The key gc.auto sets when this happens.\n",
		r->s.detach ? "in background " : "");
}

/*
 * Returns 1 after printing the log of the last gc in the background, 0 if there
 * is none, or a negative error code.
 */
static int show_last_log(struct run *r)
{
	struct buf text = BUF_INIT;
	int ret = gc_log_read(&text, r->repo, r->s.log_expiry, r->err);

	if (ret > 0)
		builtin_warn("The last gc run reported the following.\nNo "
			     "automatic gc runs while %s/gc.log exists: remove "
			     "the cause, then that file.\n\n%s",
			     r->repo->git_dir, text.data);
	buf_release(&text);
	return ret;
}

/* Start another gc process in the background, with the arguments `argv`. */
static int start_in_background(struct run *r, const char *const *argv)
{
	struct child_words w = child_git(argv);

	child_add(&w, "--no-detach");
	child_add(&w, "--background");
	return child_start(&w, r->err);
}

/* ---- the command */

static int run_locked(struct run *r)
{
	int ret = 0;

	if (r->a.background) {
		setsid();
		ret = gc_log_open(&r->log, r->repo, r->err);
	}
	if (!ret)
		ret = run_steps(r);
	if (!ret)
		gc_log_remove(r->repo);
	else
		builtin_fail(r->err);
	if (r->a.background)
		gc_log_close(&r->log, r->repo, NULL);
	return ret < 0 ? 128 : r->left_out;
}

/* Run all steps of gc. Returns the exit code. */
static int collect(struct run *r)
{
	struct buf other = BUF_INIT;
	struct sys_tempfile pid;
	int ret = gc_lock_take(&pid, r->repo, r->a.force, &other, r->err);

	if (ret > 0 && r->a.automatic)
		ret = 0;
	else if (ret > 0)
		ret = builtin_die("gc is already running on %s (use --force "
				  "if not)",
				  other.data);
	else if (ret < 0)
		ret = builtin_fail(r->err);
	else {
		ret = run_locked(r);
		sys_tempfile_abort(&pid);
	}
	buf_release(&other);
	return ret;
}

/*
 * Begin gc --auto. Returns 1 to continue in this process, 0 if nothing is left
 * to do, or a negative error code.
 */
static int begin_auto(struct run *r, const char *const *argv)
{
	int ret = gc_is_needed(&r->all, r->repo, r->s.auto_limit,
			       r->s.pack_limit, r->err);

	if (ret <= 0 || r->a.background)
		return ret;
	ret = ask_hooks(r);
	if (ret <= 0)
		return ret;
	announce(r);
	if (!r->s.detach)
		return 1;
	ret = show_last_log(r);
	if (ret)
		return ret < 0 ? ret : 0;
	return start_in_background(r, argv);
}

static int run(struct run *r, const char *const *argv)
{
	int ret = gc_settings_load(&r->s, &r->a, r->repo, r->err);

	r->is_precious = repo_check_precious(r->repo, "gc", NULL) < 0;
	r->all = true;
	if (!ret)
		ret = r->a.automatic ? begin_auto(r, argv) : 1;
	if (ret < 0)
		return builtin_fail(r->err);
	return ret ? collect(r) : 0;
}

/*
 * Check the configuration of gc before the arguments, as stock Git does. If the
 * user asks for help, no repository is open, and nothing is checked. Returns 0
 * or an exit code.
 */
static int check_settings(const struct builtin_env *env)
{
	const struct gc_args none = GC_ARGS_INIT;
	struct gc_settings settings;
	struct error err = ERROR_INIT;

	if (env->repo &&
	    gc_settings_load(&settings, &none, env->repo, &err) < 0)
		return builtin_fail(&err);
	return 0;
}

int cmd_gc(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct run r = {
		.a = GC_ARGS_INIT,
		.log = SYS_TEMPFILE_INIT,
		.err = &err,
	};
	const char **words = mem_calloc((size_t)argc + 1, sizeof(*words));
	int ret;

	if (!words)
		return builtin_die("out of memory");
	/* Keep a copy of the arguments, because parsing reorders argv. */
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	ret = check_settings(env);
	if (!ret)
		ret = gc_args_parse(&r.a, argc, argv);
	if (!ret)
		ret = builtin_open_repo_to_change(env, "gc");
	r.repo = env->repo;
	if (!ret)
		ret = run(&r, words);
	free(words);
	return builtin_finish(ret);
}
