/* SPDX-License-Identifier: MIT */
/*
 * git gc: pack refs, expire reflogs, repack, prune, write a commit-graph.
 *
 * Each step is a command of its own, started as stock Git starts it: it takes
 * a snapshot of the repository of its own after the step before, gives its
 * memory back, and may be stock Git's where we do not have it (worktree prune,
 * rerere gc). That order is what keeps objects: logs are expired before what
 * is reachable is looked at, and what repack leaves loose is pruned after.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/fallback.h"
#include "builtin/gc-lock.h"
#include "builtin/gc-need.h"
#include "builtin/options.h"
#include "repo/hook.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/spawn.h"
#include "sys/trace.h"

static const char usage_text[] = "git gc [<options>]";

enum {
	AUTO_DEFAULT = 6700,
	PACK_LIMIT_DEFAULT = 50,
	DEPTH_DEFAULT = 50,
	WINDOW_DEFAULT = 250,
};

/* What was given; 1, 0, or -1 where it was not. */
struct args {
	bool quiet, aggressive, automatic, force, background;
	bool skip_foreground; /* refs and reflogs have been seen to */
	int cruft, detach, keep_largest;
	const char *prune; /* a date, NULL: as configured, option_negated */
	const char *expire_to;
	uint64_t max_cruft_size; /* UINT64_MAX: not given */
};

/* What was given or is configured. */
struct settings {
	uint64_t auto_limit, pack_limit, big_pack, max_cruft_size;
	uint64_t depth, window;
	bool cruft, detach, pack_refs, commit_graph;
	const char *prune, *worktree_prune; /* dates; prune NULL: not */
	const char *filter, *filter_to;     /* or NULL */
	int64_t log_expiry;
};

/* One run of the command. */
struct run {
	struct args a;
	struct settings s;
	struct repo *repo; /* borrowed */
	bool is_precious;  /* nothing may be deleted */
	bool all;          /* all packs are repacked, not only what is loose */
	struct gc_packs packs;
	struct sys_tempfile log; /* gc.log, in the background */
	struct error *err;
};

/* The words of a command. */
struct words {
	char **items; /* owned, and each; NULL after the last */
	size_t nr, alloc;
	bool failed; /* there was no memory */
};

/* ---- arguments and configuration */

static int take_choice(void *value, const char *arg)
{
	*(int *)value = arg != option_negated;
	return 0;
}

static int take_prune(void *value, const char *arg)
{
	*(const char **)value = arg;
	return 0;
}

#define FLAG(letter, name, field, text)                                        \
	{                                                                      \
		.kind = OPTION_FLAG, .short_name = letter, .long_name = name,  \
		.value = field, .help = text                                   \
	}
#define CHOICE(name, field, text)                                              \
	{                                                                      \
		.kind = OPTION_CALLBACK, .long_name = name, .value = field,    \
		.flags = OPTION_NO_ARG, .fn = take_choice, .help = text        \
	}

static int parse(struct args *a, int argc, const char **argv)
{
	const struct option options[] = {
		FLAG('q', "quiet", &a->quiet, "suppress progress reporting"),
		{.kind = OPTION_CALLBACK,
		 .long_name = "prune",
		 .value = &a->prune,
		 .flags = OPTION_OPTIONAL_ARG,
		 .fn = take_prune,
		 .arg_name = "<date>",
		 .help = "prune unreferenced objects"},
		CHOICE("cruft", &a->cruft,
		       "pack unreferenced objects separately"),
		{.kind = OPTION_U64,
		 .long_name = "max-cruft-size",
		 .value = &a->max_cruft_size,
		 .help = "with --cruft, limit the size of cruft packs"},
		FLAG(0, "aggressive", &a->aggressive,
		     "be more thorough (increased runtime)"),
		FLAG(0, "auto", &a->automatic, "enable auto-gc mode"),
		CHOICE("detach", &a->detach, "run in the background"),
		FLAG(0, "force", &a->force,
		     "run even if there may be another gc running"),
		CHOICE("keep-largest-pack", &a->keep_largest,
		       "repack all other packs except the largest one"),
		{.kind = OPTION_STRING,
		 .long_name = "expire-to",
		 .value = &a->expire_to,
		 .arg_name = "<dir>",
		 .help = "pack what is pruned there"},
		FLAG(0, "skip-foreground-tasks", &a->skip_foreground, NULL),
		FLAG(0, "background", &a->background, NULL),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage_text);

	return operands < 0 ? 129
	       : operands   ? options_usage(options, usage_text)
			    : 0;
}

static int load_dates(struct run *r)
{
	const struct config *config = &r->repo->config;
	const char *prune = config_string(config, "gc.pruneexpire");
	const char *worktrees = config_string(config, "gc.worktreepruneexpire");
	const char *log = config_string(config, "gc.logexpiry");
	int64_t now = sys_clock_seconds(), when;

	r->s.prune = prune ? prune : "2.weeks.ago";
	r->s.worktree_prune = worktrees ? worktrees : "3.months.ago";
	if (approxidate_parse_expiry(&when, r->s.prune, now) < 0)
		return error_set(r->err, ERR_INVALID,
				 "Invalid gc.pruneexpire: '%s'", r->s.prune);
	if (approxidate_parse_expiry(&r->s.log_expiry, log ? log : "1.day.ago",
				     now) < 0)
		return error_set(r->err, ERR_INVALID,
				 "Invalid gc.logexpiry: '%s'", log);
	if (r->a.prune == option_negated)
		r->s.prune = NULL;
	else if (r->a.prune)
		r->s.prune = r->a.prune;
	if (r->s.prune && approxidate_parse_expiry(&when, r->s.prune, now) < 0)
		return error_set(r->err, ERR_INVALID,
				 "failed to parse prune expiry value %s",
				 r->s.prune);
	return 0;
}

/* A boolean, or "notbare". */
static int load_pack_refs(struct run *r)
{
	const char *value = config_string(&r->repo->config, "gc.packrefs");
	int ret;

	r->s.pack_refs = true;
	if (value && !strcmp(value, "notbare")) {
		r->s.pack_refs = !r->repo->is_bare;
		return 0;
	}
	ret = config_bool(&r->repo->config, "gc.packrefs", &r->s.pack_refs,
			  r->err);
	return ret < 0 ? ret : 0;
}

static int load_numbers(struct run *r)
{
	const struct config *config = &r->repo->config;
	int64_t auto_limit = AUTO_DEFAULT, pack_limit = PACK_LIMIT_DEFAULT;
	struct settings *s = &r->s;
	const struct {
		const char *key;
		uint64_t *value;
	} sizes[] = {
		{"gc.bigpackthreshold", &s->big_pack},
		{"gc.maxcruftsize", &s->max_cruft_size},
		{"gc.aggressivedepth", &s->depth},
		{"gc.aggressivewindow", &s->window},
	};
	int ret = config_i64(config, "gc.auto", &auto_limit, r->err);

	if (ret >= 0)
		ret = config_i64(config, "gc.autopacklimit", &pack_limit,
				 r->err);
	s->auto_limit = auto_limit > 0 ? (uint64_t)auto_limit : 0;
	s->pack_limit = pack_limit > 0 ? (uint64_t)pack_limit : 0;
	s->depth = DEPTH_DEFAULT;
	s->window = WINDOW_DEFAULT;
	for (size_t i = 0; i < ARRAY_NR(sizes) && ret >= 0; i++)
		ret = config_u64(config, sizes[i].key, sizes[i].value, r->err);
	return ret < 0 ? ret : 0;
}

static int load_settings(struct run *r)
{
	const struct config *config = &r->repo->config;
	struct settings *s = &r->s;
	int ret = load_dates(r);

	s->cruft = s->detach = s->commit_graph = true;
	if (!ret)
		ret = load_numbers(r);
	if (!ret)
		ret = load_pack_refs(r);
	if (ret >= 0)
		ret = config_bool(config, "gc.cruftpacks", &s->cruft, r->err);
	if (ret >= 0)
		ret = config_bool(config, "gc.writecommitgraph",
				  &s->commit_graph, r->err);
	if (ret >= 0)
		ret = config_bool(config, "gc.autodetach", &s->detach, r->err);
	if (ret >= 0)
		ret = config_bool(config, "maintenance.autodetach", &s->detach,
				  r->err);
	s->filter = config_string(config, "gc.repackfilter");
	s->filter_to = config_string(config, "gc.repackfilterto");
	if (r->a.cruft >= 0)
		s->cruft = r->a.cruft;
	if (r->a.detach >= 0)
		s->detach = r->a.detach;
	if (r->a.max_cruft_size != UINT64_MAX)
		s->max_cruft_size = r->a.max_cruft_size;
	r->is_precious = repo_check_precious(r->repo, "gc", NULL) < 0;
	return ret < 0 ? ret : 0;
}

/* ---- commands */

__attribute__((format(printf, 2, 3))) static void add_word(struct words *w,
							   const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;
	int ret;

	if (w->failed ||
	    mem_grow(&w->items, &w->alloc, w->nr + 2, sizeof(*w->items)) < 0) {
		w->failed = true;
		return;
	}
	va_start(ap, fmt);
	ret = buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (ret < 0) {
		buf_release(&text);
		w->failed = true;
		return;
	}
	w->items[w->nr++] = buf_detach(&text, NULL);
	w->items[w->nr] = NULL;
}

static void words_release(struct words *w)
{
	for (size_t i = 0; i < w->nr; i++)
		free(w->items[i]);
	free(w->items);
}

/* "git" and these words; what comes after them is added later. */
static struct words start_command(const char *const *words)
{
	struct words w = {NULL, 0, 0, false};

	add_word(&w, "git");
	for (; *words; words++)
		add_word(&w, "%s", *words);
	return w;
}

/* Run it to its end and let go of the words. 0 or negative. */
static int run_command(struct run *r, struct words *w)
{
	struct trace *trace = r->repo->trace;
	struct trace_child told;
	struct sys_child child;
	int ret, code = 0;

	fflush(stdout);
	if (!w->failed)
		trace_child_start(trace, &told, (const char **)w->items, NULL);
	ret = w->failed ? error_nomem(r->err)
			: sys_spawn(&child, w->items, NULL, SYS_SPAWN_NULL_IN,
				    r->err);
	if (!ret)
		code = sys_spawn_wait(&child, r->err);
	if (!w->failed)
		trace_child_exit(trace, &told, ret ? -1 : child.pid,
				 ret ? -1 : code);
	if (!ret && code)
		ret = code < 0 ? code
			       : error_set(r->err, ERR_PEER, "failed to run %s",
					   w->items[1]);
	words_release(w);
	return ret;
}

/* ---- the steps */

static int pack_refs(struct run *r)
{
	static const char *const words[] = {"pack-refs", "--all", "--prune",
					    NULL};
	struct words w;

	if (!r->s.pack_refs || r->a.skip_foreground)
		return 0;
	w = start_command(words);
	if (r->a.automatic)
		add_word(&w, "--auto");
	return run_command(r, &w);
}

static int expire_reflogs(struct run *r)
{
	static const char *const words[] = {"reflog", "expire", "--all", NULL};
	struct words w;

	if (r->a.skip_foreground)
		return 0;
	w = start_command(words);
	return run_command(r, &w);
}

/* What becomes of objects that nothing reaches. */
static void add_unreachable(struct run *r, struct words *w)
{
	const struct settings *s = &r->s;
	bool now = s->prune && !strcmp(s->prune, "now");

	if (now && !(s->cruft && r->a.expire_to)) {
		add_word(w, "-a");
	} else if (!s->cruft) {
		add_word(w, "-A");
		if (s->prune)
			add_word(w, "--unpack-unreachable=%s", s->prune);
	} else {
		add_word(w, "--cruft");
		if (s->prune)
			add_word(w, "--cruft-expiration=%s", s->prune);
		if (s->max_cruft_size)
			add_word(w, "--max-cruft-size=%" PRIu64,
				 s->max_cruft_size);
		if (r->a.expire_to)
			add_word(w, "--expire-to=%s", r->a.expire_to);
	}
}

/* The packs that stay: --keep-largest-pack, gc.bigPackThreshold. */
static int add_kept(struct run *r, struct words *w)
{
	uint64_t threshold = r->a.keep_largest > 0 ? 0 : r->s.big_pack;
	struct gc_packs list = {NULL, 0, 0};
	size_t nr;
	int ret;

	if (r->a.keep_largest <= 0 && !threshold)
		return 0;
	ret = gc_packs_list(&list, r->repo, r->err);
	nr = gc_packs_keep(&list, threshold);
	/* Too many would make --auto come again and again. */
	if (r->a.automatic && r->s.pack_limit && nr >= r->s.pack_limit)
		gc_packs_keep(&list, 0);
	for (size_t i = 0; i < list.nr && !ret; i++)
		if (list.packs[i].stays)
			add_word(w, "--keep-pack=%s", list.packs[i].name);
	gc_packs_release(&list);
	return ret;
}

static int repack(struct run *r)
{
	static const char *const words[] = {"repack", "-d", "-l", NULL};
	struct words w;
	int ret = 0;

	if (r->is_precious)
		return 0;
	w = start_command(words);
	if (r->a.aggressive) {
		add_word(&w, "-f");
		if (r->s.depth)
			add_word(&w, "--depth=%" PRIu64, r->s.depth);
		if (r->s.window)
			add_word(&w, "--window=%" PRIu64, r->s.window);
	}
	if (r->a.quiet)
		add_word(&w, "-q");
	if (r->all) {
		add_unreachable(r, &w);
		ret = add_kept(r, &w);
	} else {
		add_word(&w, "--no-write-bitmap-index");
	}
	if (r->s.filter && *r->s.filter && r->all) {
		add_word(&w, "--filter=%s", r->s.filter);
		if (r->s.filter_to && *r->s.filter_to)
			add_word(&w, "--filter-to=%s", r->s.filter_to);
	}
	if (!ret)
		return run_command(r, &w);
	words_release(&w);
	return ret;
}

static int prune(struct run *r)
{
	static const char *const words[] = {"prune", "--expire", NULL};
	struct words w;

	if (r->is_precious || !r->s.prune)
		return 0;
	w = start_command(words);
	add_word(&w, "%s", r->s.prune);
	if (r->a.quiet)
		add_word(&w, "--no-progress");
	return run_command(r, &w);
}

/*
 * A step that only stock Git can do, about a directory that repositories on a
 * server do not have.
 */
static int run_stock(struct run *r, const char *dir, const char *const *words,
		     const char *last)
{
	char *path = repo_common_path(r->repo, dir);
	bool wanted = path && sys_exists(path) && fallback_exists();
	struct words w;

	free(path);
	if (!path)
		return error_nomem(r->err);
	if (!wanted)
		return 0;
	w = start_command(words);
	if (last)
		add_word(&w, "%s", last);
	return run_command(r, &w);
}

static int prune_worktrees(struct run *r)
{
	static const char *const words[] = {"worktree", "prune", "--expire",
					    NULL};

	return run_stock(r, "worktrees", words, r->s.worktree_prune);
}

static int clean_rerere(struct run *r)
{
	static const char *const words[] = {"rerere", "gc", NULL};

	return run_stock(r, "rr-cache", words, NULL);
}

static int write_commit_graph(struct run *r)
{
	static const char *const words[] = {"commit-graph", "write",
					    "--reachable", NULL};
	struct words w;

	if (!r->s.commit_graph)
		return 0;
	w = start_command(words);
	if (r->a.quiet || !isatty(STDERR_FILENO))
		add_word(&w, "--no-progress");
	return run_command(r, &w);
}

static int run_steps(struct run *r)
{
	static int (*const steps[])(struct run * r) = {
		pack_refs,
		expire_reflogs,
		repack,
		prune,
		prune_worktrees,
		clean_rerere,
		write_commit_graph,
	};
	int ret = 0;

	for (size_t i = 0; i < ARRAY_NR(steps) && !ret; i++)
		ret = steps[i](r);
	if (!ret && r->a.automatic &&
	    gc_has_many_loose(r->repo, r->s.auto_limit, NULL) > 0)
		builtin_warn("There are too many unreachable loose objects; "
			     "run 'git prune' to remove them.");
	return ret;
}

/* ---- --auto */

/* 1 when there is something to do, 0, or negative; sets r->all. */
static int is_needed(struct run *r)
{
	size_t count;
	int ret;

	if (!r->s.auto_limit)
		return 0;
	ret = gc_packs_list(&r->packs, r->repo, r->err);
	if (ret < 0)
		return ret;
	count = gc_packs_count(&r->packs);
	r->all = r->s.pack_limit && count > r->s.pack_limit;
	return r->all ? 1 : gc_has_many_loose(r->repo, r->s.auto_limit, r->err);
}

/* 1 when the hook is for it, 0, or negative. */
static int ask_hook(struct run *r)
{
	char *path = NULL;
	struct trace_child told;
	struct sys_child child;
	int ret = repo_hook_find(&path, r->repo, "pre-auto-gc", r->err);
	char *argv[] = {path, NULL};

	if (ret <= 0)
		return ret < 0 ? ret : 1;
	trace_child_start(r->repo->trace, &told, (const char **)argv,
			  "pre-auto-gc");
	ret = sys_spawn(&child, argv, NULL,
			SYS_SPAWN_NULL_IN | SYS_SPAWN_OUT_TO_ERR, r->err);
	if (!ret) {
		ret = sys_spawn_wait(&child, r->err);
		trace_child_exit(r->repo->trace, &told, child.pid, ret);
	}
	free(path);
	return ret < 0 ? ret : !ret;
}

static void announce(const struct run *r)
{
	if (r->a.quiet)
		return;
	fprintf(stderr,
		"Auto packing the repository %sfor optimum performance.\n"
		"See \"git help gc\" for manual housekeeping.\n",
		r->s.detach ? "in background " : "");
}

/* 1 when the last one in the background has left a complaint; or negative. */
static int show_last_log(struct run *r)
{
	struct buf text = BUF_INIT;
	int ret = gc_log_read(&text, r->repo, r->s.log_expiry, r->err);

	if (ret > 0)
		builtin_warn(
			"The last gc run reported the following. Please "
			"correct the root cause\nand remove %s/gc.log\n"
			"Automatic cleanup will not be performed until the "
			"file is removed.\n\n%s",
			r->repo->git_dir, text.data);
	buf_release(&text);
	return ret;
}

/* The same command again, for whom nobody waits. */
static int start_in_background(struct run *r, const char *const *argv)
{
	struct words w = start_command(argv);
	struct sys_child child;
	int ret;

	add_word(&w, "--no-detach");
	add_word(&w, "--background");
	ret = w.failed ? error_nomem(r->err)
		       : sys_spawn(&child, w.items, NULL, SYS_SPAWN_SILENT,
				   r->err);
	words_release(&w);
	return ret;
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
	return ret < 0 ? 128 : 0;
}

/* Exit code. */
static int collect(struct run *r)
{
	struct buf other = BUF_INIT;
	int ret = gc_lock_take(r->repo, r->a.force, &other, r->err);

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
		gc_lock_drop(r->repo);
	}
	buf_release(&other);
	return ret;
}

/* 1: go on, here; 0: done; or negative. */
static int begin_auto(struct run *r, const char *const *argv)
{
	int ret = is_needed(r);

	if (ret <= 0 || r->a.background)
		return ret;
	ret = ask_hook(r);
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
	int ret = load_settings(r);

	r->all = true;
	if (!ret)
		ret = r->a.automatic ? begin_auto(r, argv) : 1;
	if (ret < 0)
		return builtin_fail(r->err);
	return ret ? collect(r) : 0;
}

int cmd_gc(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct run r = {
		.a = {.cruft = -1,
		      .detach = -1,
		      .keep_largest = -1,
		      .max_cruft_size = UINT64_MAX},
		.log = SYS_TEMPFILE_INIT,
		.err = &err,
	};
	const char **words = mem_calloc((size_t)argc + 1, sizeof(*words));
	int ret;

	if (!words)
		return builtin_die("out of memory");
	/* Parsing moves them about. */
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	ret = parse(&r.a, argc, argv);
	if (!ret)
		ret = builtin_open_repo(env);
	r.repo = env->repo;
	if (!ret)
		ret = run(&r, words);
	gc_packs_release(&r.packs);
	free(words);
	return builtin_finish(ret);
}
