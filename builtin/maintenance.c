/* SPDX-License-Identifier: MIT */
/*
 * git maintenance run and is-needed: chooses the tasks and runs them in order.
 *
 * A run holds the lock <object dir>/maintenance.lock, so that only one process
 * runs tasks. The foreground parts of all tasks run first. The background parts
 * may run in another process, which takes the lock itself. Stock Git runs the
 * other subcommands.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/child.h"
#include "builtin/maintenance-parts.h"
#include "builtin/options.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/trace.h"

/* Number of seconds after which a lock is stale if it has no PID file. */
#define VALID_S (12 * 60 * 60)

static const char usage_text[] =
	"git maintenance run [--auto] [--[no-]quiet] [--task=<task>] "
	"[--schedule]";
static const char needed_usage[] =
	"git maintenance is-needed [--auto] [--task=<task>]";

/*
 * How often a task runs. `git maintenance run --schedule=<frequency>` runs the
 * tasks of this frequency and of higher ones.
 */
enum frequency { NEVER, WEEKLY, DAILY, HOURLY };

/* A value of maintenance.strategy: which tasks run, and how often. */
struct strategy {
	const char *name;
	bool enabled[MAINTENANCE_TASK_NR];
	enum frequency schedule[MAINTENANCE_TASK_NR];
};

/* One run of the command. */
struct run {
	struct maintenance m;
	/*
	 * true: another process has run the foreground parts of the tasks; this
	 * process runs only the background parts
	 */
	bool background;
	int quiet, detach; /* -1: not given */
	const char *schedule_text;
	enum frequency schedule; /* NEVER: not given */
	bool is_given[MAINTENANCE_TASK_NR];
	enum maintenance_id tasks[MAINTENANCE_TASK_NR]; /* the tasks to run */
	size_t nr;
	bool failed;
};

static const struct strategy strategies[] = {
	{
		/*
		 * The strategy that is used if maintenance.strategy is not set
		 * and --schedule is not given.
		 */
		.name = "geometric",
		.enabled = {[MAINTENANCE_GEOMETRIC_REPACK] = true,
			    [MAINTENANCE_COMMIT_GRAPH] = true,
			    [MAINTENANCE_PACK_REFS] = true,
			    [MAINTENANCE_REFLOG_EXPIRE] = true,
			    [MAINTENANCE_WORKTREE_PRUNE] = true,
			    [MAINTENANCE_RERERE_GC] = true},
		.schedule = {[MAINTENANCE_GEOMETRIC_REPACK] = DAILY,
			     [MAINTENANCE_COMMIT_GRAPH] = HOURLY,
			     [MAINTENANCE_PACK_REFS] = DAILY,
			     [MAINTENANCE_REFLOG_EXPIRE] = WEEKLY,
			     [MAINTENANCE_WORKTREE_PRUNE] = WEEKLY,
			     [MAINTENANCE_RERERE_GC] = WEEKLY},
	},
	{
		.name = "gc",
		.enabled = {[MAINTENANCE_GC] = true},
		.schedule = {[MAINTENANCE_GC] = DAILY},
	},
	{
		.name = "incremental",
		.enabled = {[MAINTENANCE_GC] = true},
		.schedule = {[MAINTENANCE_PREFETCH] = HOURLY,
			     [MAINTENANCE_COMMIT_GRAPH] = HOURLY,
			     [MAINTENANCE_LOOSE_OBJECTS] = DAILY,
			     [MAINTENANCE_INCREMENTAL_REPACK] = DAILY,
			     [MAINTENANCE_PACK_REFS] = WEEKLY},
	},
};

/* ---- arguments */

static int take_choice(void *value, const char *arg)
{
	*(int *)value = arg != option_negated;
	return 0;
}

static int take_task(void *value, const char *arg)
{
	struct run *r = value;
	enum maintenance_id id = 0;

	while (id < MAINTENANCE_TASK_NR &&
	       strcasecmp(arg, maintenance_tasks[id].name) != 0)
		id++;
	if (id == MAINTENANCE_TASK_NR)
		return builtin_error("'%s' is not a valid task", arg);
	if (r->is_given[id])
		return builtin_error("task '%s' cannot be selected multiple "
				     "times",
				     arg);
	r->is_given[id] = true;
	r->tasks[r->nr++] = id;
	return 0;
}

/* Parse the name of a frequency. Returns NEVER if `name` is not a frequency. */
static enum frequency frequency_by_name(const char *name)
{
	return !strcmp(name, "hourly")   ? HOURLY
	       : !strcmp(name, "daily")  ? DAILY
	       : !strcmp(name, "weekly") ? WEEKLY
					 : NEVER;
}

/* ---- which tasks */

/*
 * Choose the configured strategy. If --schedule is given and no strategy is
 * configured, *out is NULL and no task runs.
 */
static int choose_strategy(const struct run *r, const struct strategy **out)
{
	const char *name = config_string(&r->m.repo->config,
					 "maintenance.strategy");

	*out = r->schedule ? NULL : &strategies[0];
	for (size_t i = 0; name && i < ARRAY_NR(strategies); i++)
		if (!strcasecmp(name, strategies[i].name)) {
			*out = &strategies[i];
			return 0;
		}
	return name ? error_set(r->m.err, ERR_INVALID,
				"unknown maintenance strategy: '%s'", name)
		    : 0;
}

/* Set *key to "maintenance.<task>.<what>". */
static int task_key(struct buf *key, const struct run *r,
		    enum maintenance_id id, const char *what)
{
	buf_reset(key);
	return buf_printf(key, "maintenance.%s.%s", maintenance_tasks[id].name,
			  what) < 0
		       ? error_nomem(r->m.err)
		       : 0;
}

/*
 * Find whether a task is chosen by the command line or the configuration.
 * Returns 1 if so, 0 if not, or a negative error code.
 */
static int is_wanted(const struct run *r, const struct strategy *s,
		     enum maintenance_id id, bool is_named, struct buf *key)
{
	const struct config *config = &r->m.repo->config;
	enum frequency schedule = s ? s->schedule[id] : NEVER;
	bool enabled = s && (r->schedule ? schedule != NEVER : s->enabled[id]);
	const char *value;
	int ret = task_key(key, r, id, "enabled");

	if (!ret)
		ret = config_bool(config, key->data, &enabled, r->m.err);
	/*
	 * is_named: the command line names the task. Such a task runs even if
	 * the configuration turns it off.
	 */
	if (ret < 0 || !r->schedule)
		return ret < 0 ? ret : enabled || is_named;
	ret = task_key(key, r, id, "schedule");
	value = ret ? NULL : config_string(config, key->data);
	if (value)
		schedule = frequency_by_name(value);
	return ret < 0 ? ret : enabled && schedule >= r->schedule;
}

/*
 * Returns whether a task must not run because extensions.preciousObjects is set
 * and the task deletes objects.
 */
static bool is_forbidden(const struct run *r, enum maintenance_id id)
{
	return maintenance_tasks[id].deletes &&
	       repo_check_precious(r->m.repo, "maintenance", NULL) < 0;
}

/*
 * Choose the tasks to run and put them in their fixed order. If the command
 * line names tasks, these tasks are run. Otherwise the tasks are chosen by the
 * configuration.
 */
static int choose_tasks(struct run *r)
{
	const struct strategy *strategy;
	struct buf key = BUF_INIT;
	size_t nr = r->nr ? r->nr : MAINTENANCE_TASK_NR, kept = 0;
	int ret = choose_strategy(r, &strategy);

	for (size_t i = 0; i < nr && ret >= 0; i++) {
		enum maintenance_id id = r->nr ? r->tasks[i]
					       : (enum maintenance_id)i;

		ret = is_wanted(r, strategy, id, r->nr > 0, &key);
		if (ret > 0 && is_forbidden(r, id) && !r->m.quiet)
			builtin_warn("skipping task '%s', which would delete "
				     "objects of a precious-objects repo",
				     maintenance_tasks[id].name);
		else if (ret > 0 && !is_forbidden(r, id))
			r->tasks[kept++] = id;
	}
	r->nr = kept;
	buf_release(&key);
	return ret < 0 ? ret : 0;
}

/* ---- arguments and configuration */

/*
 * Open the repository, load the settings and choose the tasks. Returns 0 or an
 * exit code.
 */
static int prepare(struct run *r, struct builtin_env *env)
{
	const struct gc_args gc = GC_ARGS_INIT;
	int ret = builtin_open_repo_to_change(env, "maintain");

	if (ret)
		return ret;
	r->m.repo = env->repo;
	ret = gc_settings_load(&r->m.gc, &gc, r->m.repo, r->m.err);
	if (!ret)
		ret = choose_tasks(r);
	return ret < 0 ? builtin_fail(r->m.err) : 0;
}

/*
 * Parse the options of `maintenance run`. As in stock Git, a wrong value in the
 * configuration is reported before an argument that is no option. Returns 0 or
 * an exit code.
 */
static int parse(struct run *r, int argc, const char **argv,
		 struct builtin_env *env)
{
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "auto",
		 .flag = &r->m.automatic,
		 .help = "run only the tasks that the repository needs"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "detach",
		 .value = &r->detach,
		 .flags = OPTION_NO_ARG,
		 .fn = take_choice,
		 .help = "run in the background"},
		{.kind = OPTION_STRING,
		 .long_name = "schedule",
		 .string = &r->schedule_text,
		 .arg_name = "<frequency>",
		 .help = "run the tasks whose schedule has this frequency"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "quiet",
		 .value = &r->quiet,
		 .flags = OPTION_NO_ARG,
		 .fn = take_choice,
		 .help = "do not report progress or other information"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "task",
		 .value = r,
		 .flags = OPTION_NO_NEGATE,
		 .fn = take_task,
		 .arg_name = "<task>",
		 .help = "run this task; may be given several times"},
		{.kind = OPTION_FLAG,
		 .long_name = "background",
		 .flag = &r->background},
		{0},
	};
	int operands = options_parse(argc, argv, options, usage_text);
	int code;

	if (operands < 0)
		return 129;
	if (r->schedule_text)
		r->schedule = frequency_by_name(r->schedule_text);
	if (r->schedule_text && !r->schedule)
		return builtin_die("unrecognized --schedule argument '%s'",
				   r->schedule_text);
	if (r->schedule_text && (r->m.automatic || r->nr))
		return builtin_die("options '%s' and '--schedule=' cannot "
				   "be used together",
				   r->m.automatic ? "--auto" : "--task=");
	r->m.quiet = r->quiet < 0 ? !isatty(STDERR_FILENO) : r->quiet;
	code = prepare(r, env);
	return !code && operands ? options_usage(options, usage_text) : code;
}

/* ---- running tasks */

static void run_part(struct run *r, const struct maintenance_task *task,
		     int (*part)(const struct maintenance *m))
{
	struct error *err = r->m.err;
	int ret = part ? part(&r->m) : 0;

	if (!ret)
		return;
	r->failed = true;
	if (ret != ERR_PEER)
		builtin_error("%s", err->msg);
	builtin_error("task '%s' failed", task->name);
}

/* With --auto, remove from the list the tasks that are not needed. */
static int keep_needed(struct run *r)
{
	size_t kept = 0;
	int ret = 0;

	for (size_t i = 0; i < r->nr && ret >= 0 && r->m.automatic; i++) {
		const struct maintenance_task *task =
			&maintenance_tasks[r->tasks[i]];

		ret = task->needed ? task->needed(&r->m) : 0;
		if (ret > 0)
			r->tasks[kept++] = r->tasks[i];
	}
	if (r->m.automatic)
		r->nr = kept;
	return ret < 0 ? ret : 0;
}

static void run_foreground(struct run *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct maintenance_task *task =
			&maintenance_tasks[r->tasks[i]];

		run_part(r, task, task->foreground);
	}
}

static void run_background(struct run *r)
{
	struct trace *trace = r->m.repo->trace;

	for (size_t i = 0; i < r->nr; i++) {
		const struct maintenance_task *task =
			&maintenance_tasks[r->tasks[i]];

		if (!task->background)
			continue;
		trace_region_enter(trace, "maintenance", task->name);
		run_part(r, task, task->background);
		trace_region_leave(trace, "maintenance", task->name);
	}
}

/*
 * Start another process, which runs the background parts of the tasks in
 * r->tasks.
 */
static int start_background(const struct run *r)
{
	struct child_words w = child_git((const char *const[]){
		"maintenance", "run", "--background", "--no-detach", NULL});

	if (r->m.automatic)
		child_add(&w, "--auto");
	if (r->m.quiet)
		child_add(&w, "--quiet");
	for (size_t i = 0; i < r->nr; i++)
		child_add(&w, "--task=%s", maintenance_tasks[r->tasks[i]].name);
	return child_start(&w, r->m.err);
}

/*
 * Run the tasks while holding the lock. The lock is released before the
 * background process takes it.
 */
static int run_locked(struct run *r, struct sys_tempfile *lock)
{
	int ret = keep_needed(r);

	if (ret < 0 || !r->nr)
		return ret;
	if (!r->background)
		run_foreground(r);
	if (r->detach <= 0) {
		run_background(r);
		return 0;
	}
	sys_tempfile_abort(lock);
	return start_background(r);
}

/*
 * Called if the lock file exists already. Either another run holds the lock, or
 * a killed run has left it. A lock that was left stops all maintenance, so it
 * is reported even with --quiet. Returns the exit code.
 */
static int skip(const struct run *r, const char *path)
{
	struct sys_stat st = {0};
	long pid;
	enum sys_lockfile_holder holder = sys_lockfile_holder(&pid, path);
	bool is_old = !sys_stat(&st, path, NULL) &&
		      sys_clock_seconds() - st.mtime_ns / 1000000000 > VALID_S;

	if (holder == SYS_LOCKFILE_GONE ||
	    (holder == SYS_LOCKFILE_UNKNOWN && is_old)) {
		builtin_error("%s", r->m.err->msg);
		return 1;
	}
	if (!r->m.automatic && !r->m.quiet)
		builtin_warn("lock file '%.*s' exists, skipping maintenance",
			     (int)(strlen(path) - strlen(".lock")), path);
	return 0;
}

/* Run git maintenance once. Returns the exit code. */
static int run_once(struct run *r)
{
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	char *path = repo_object_path(r->m.repo, "maintenance.lock");
	int ret = path ? sys_lockfile_create_mode(&lock, path,
						  0666 | r->m.repo->share, 0,
						  r->m.err)
		       : error_nomem(r->m.err);

	if (r->background)
		setsid();
	if (ret == ERR_DENIED) {
		r->failed = skip(r, path);
		ret = 0;
	} else if (!ret) {
		ret = run_locked(r, &lock);
	}
	sys_tempfile_abort(&lock);
	free(path);
	return ret < 0 ? builtin_fail(r->m.err) : r->failed;
}

static int run(struct run *r, int argc, const char **argv,
	       struct builtin_env *env)
{
	int code = parse(r, argc, argv, env);

	return code ? code : run_once(r);
}

/* ---- is-needed */

/*
 * Run git maintenance is-needed. Returns 0 if a task would run, 1 if none
 * would, or another exit code.
 */
static int is_needed(struct run *r)
{
	int ret = 0;

	if (choose_tasks(r) < 0)
		return builtin_fail(r->m.err);
	for (size_t i = 0; i < r->nr && !ret; i++) {
		const struct maintenance_task *task =
			&maintenance_tasks[r->tasks[i]];

		if (!r->m.automatic)
			ret = 1;
		else if (task->needed)
			ret = task->needed(&r->m);
	}
	return ret < 0 ? builtin_fail(r->m.err) : !ret;
}

static int run_is_needed(struct run *r, int argc, const char **argv,
			 struct builtin_env *env)
{
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "auto",
		 .flag = &r->m.automatic,
		 .help = "run only the tasks that the repository needs"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "task",
		 .value = r,
		 .flags = OPTION_NO_NEGATE,
		 .fn = take_task,
		 .arg_name = "<task>",
		 .help = "ask about this task; may be given several times"},
		{0},
	};
	const struct gc_args gc = GC_ARGS_INIT;
	int operands = options_parse(argc, argv, options, needed_usage);
	int ret;

	if (operands)
		return operands < 0 ? 129
				    : options_usage(options, needed_usage);
	ret = builtin_open_repo(env);
	if (ret)
		return ret;
	r->m.repo = env->repo;
	ret = gc_settings_load(&r->m.gc, &gc, r->m.repo, r->m.err);
	return ret < 0 ? builtin_fail(r->m.err) : is_needed(r);
}

int cmd_maintenance(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct run r = {.m = {.err = &err}, .quiet = -1, .detach = -1};

	if (argc > 1 && !strcmp(argv[1], "run"))
		return builtin_finish(run(&r, argc - 1, argv + 1, env));
	if (argc > 1 && !strcmp(argv[1], "is-needed"))
		return builtin_finish(
			run_is_needed(&r, argc - 1, argv + 1, env));
	return BUILTIN_NOT_OURS;
}
