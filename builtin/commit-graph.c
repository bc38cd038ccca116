/* SPDX-License-Identifier: MIT */
/*
 * git commit-graph: parses the arguments. graph-write/commit-graph-write.h does
 * the work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/input.h"
#include "builtin/object-dir.h"
#include "config/config.h"
#include "graph-write/commit-graph-write.h"
#include "graph/commit-graph-verify.h"
#include "graph/commit-graph.h"
#include "sys/clock.h"

static const char usage_text[] =
	"git commit-graph verify [--object-dir <dir>] [--shallow] "
	"[--[no-]progress]\n"
	"git commit-graph write [--object-dir <dir>] [--append] "
	"[--split[=<strategy>]] [--reachable | --stdin-packs | "
	"--stdin-commits] [--changed-paths] [--[no-]max-new-filters <n>] "
	"[--[no-]progress] <split-options>";

struct call {
	struct object_dir_call common;
	/* options of write */
	bool reachable, stdin_packs, stdin_commits, append;
	int changed_paths;       /* -1: not given */
	int64_t max_new_filters; /* INT64_MIN: not given */
	enum commit_graph_split split;
	/* values of --size-multiple and --max-commits; negative: no limit */
	int64_t size_multiple, max_commits;
	/*
	 * Value of --expire-time: a layer that is not in the new chain is
	 * removed if it is older than this time. INT64_MAX: all layers that are
	 * not in the new chain are removed.
	 */
	int64_t expiry;
	bool shallow; /* option of verify */
	/* true: an option has a wrong value, so the exit code is 128 */
	bool died;
};

/* ---- standard input */

/* What standard input names: commits by their ids, or packs. */
struct input {
	struct oid *ids; /* owned */
	size_t id_nr, id_alloc;
	char **packs; /* owned */
	size_t pack_nr, pack_alloc;
};

static void input_release(struct input *in)
{
	for (size_t i = 0; i < in->pack_nr; i++)
		free(in->packs[i]);
	free(in->packs);
	free(in->ids);
}

/*
 * Add the id in a line. As in stock Git, a missing object is reported before
 * the next line is read. Returns 0, or prints an error and returns the exit
 * code.
 */
static int add_id(struct input *in, const char *line, const struct store *store)
{
	struct oid oid;

	if (!oid_from_hex(&oid, line, strlen(line), store->repo->algo)) {
		builtin_error("unexpected non-hex object ID: %s", line);
		return 1;
	}
	/*
	 * In a partial clone, a missing object is no error, because it can be
	 * fetched later from the remote that has promised it.
	 */
	if (!store->repo->has_promisor &&
	    !odb_reader_has(store->reader, &oid)) {
		builtin_error("invalid object: %s", line);
		return 1;
	}
	if (mem_grow(&in->ids, &in->id_alloc, in->id_nr + 1, sizeof(*in->ids)) <
	    0)
		return builtin_die("out of memory");
	in->ids[in->id_nr++] = oid;
	return 0;
}

static int add_pack(struct input *in, const char *line)
{
	char *name = mem_strdup(line);

	if (!name || mem_grow(&in->packs, &in->pack_alloc, in->pack_nr + 1,
			      sizeof(*in->packs)) < 0) {
		free(name);
		return builtin_die("out of memory");
	}
	in->packs[in->pack_nr++] = name;
	return 0;
}

/*
 * Read the lines of standard input: names of packs if `packs` is set, otherwise
 * ids. Returns 0, or prints an error and returns the exit code.
 */
static int read_input(struct input *in, bool packs, const struct store *store)
{
	struct stdin_lines lines = STDIN_LINES_INIT;
	struct error err = ERROR_INIT;
	int ret, code = 0;

	while (!code && (ret = stdin_lines_next(&lines, &err)) > 0)
		code = packs ? add_pack(in, lines.line)
			     : add_id(in, lines.line, store);
	if (!code && ret < 0)
		code = builtin_fail(&err);
	stdin_lines_release(&lines);
	return code;
}

/* ---- write */

/* Prints an error about the argument of an option. Returns OPTION_DIED. */
static int die(struct call *c, const char *format, const char *arg)
{
	c->died = true;
	builtin_die(format, arg);
	return OPTION_DIED;
}

/*
 * Callback for --split[=<strategy>]. `arg` is NULL if the option is given
 * without a strategy.
 */
static int take_split(void *value, const char *arg)
{
	struct call *c = value;

	if (!arg)
		c->split = COMMIT_GRAPH_SPLIT_MERGE;
	else if (!strcmp(arg, "no-merge"))
		c->split = COMMIT_GRAPH_SPLIT_NO_MERGE;
	else if (!strcmp(arg, "replace"))
		c->split = COMMIT_GRAPH_SPLIT_REPLACE;
	else
		return die(c, "unrecognized --split argument, %s", arg);
	return 0;
}

/* Callback for --expire-time: parses the date. */
static int take_expire_time(void *value, const char *arg)
{
	struct call *c = value;

	c->expiry = INT64_MAX;
	if (arg == option_negated ||
	    !approxidate_parse_expiry(&c->expiry, arg, sys_clock_seconds()))
		return 0;
	return die(c, "malformed expiration date '%s'", arg);
}

/* Callback for --max-new-filters. An empty argument means 0. */
static int take_max_new_filters(void *value, const char *arg)
{
	char *end = NULL;

	if (arg == option_negated) {
		*(int64_t *)value = -1;
		return 0;
	}
	*(int64_t *)value = strtol(arg, &end, 10);
	return *end ? builtin_error("option `max-new-filters' expects a "
				    "numerical value")
		    : 0;
}

/*
 * Choose the source of the commits. If standard input is the source, read its
 * lines.
 */
static int take_source(struct commit_graph_options *o, struct input *in,
		       const struct call *c)
{
	int code = 0;

	o->source = c->reachable       ? COMMIT_GRAPH_FROM_REFS
		    : c->stdin_commits ? COMMIT_GRAPH_FROM_COMMITS
		    : c->stdin_packs   ? COMMIT_GRAPH_FROM_NAMED
				       : COMMIT_GRAPH_FROM_PACKS;
	if (c->stdin_commits || c->stdin_packs)
		code = read_input(in, c->stdin_packs, &c->common.store);
	o->commits = in->ids;
	o->commit_nr = in->id_nr;
	o->packs = (const char *const *)in->packs;
	o->pack_nr = in->pack_nr;
	return code;
}

static int run_write(struct object_dir_call *call,
		     struct commit_graph_options *o)
{
	struct error err = ERROR_INIT, warning = ERROR_INIT;
	int ret = store_fetch_missing(&call->store, call->env);

	if (ret)
		return ret;
	o->warning = &warning;
	ret = commit_graph_write(call->store.odb, o, &err);
	if (ret >= 0 && warning.code)
		builtin_warn("%s", warning.msg);
	if (ret == ERR_INVALID && (o->commit_nr || o->pack_nr)) {
		builtin_error("%s", err.msg);
		return 1;
	}
	return ret < 0 ? builtin_fail(&err) : 0;
}

/*
 * Returns whether the configuration forbids writing a commit-graph. If so,
 * prints a warning.
 */
static bool is_forbidden(const struct commit_graph_options *o, bool enabled)
{
	long long version = o->changed_paths_version;

	if (!enabled)
		builtin_warn("attempting to write a commit-graph, but "
			     "'core.commitGraph' is disabled");
	else if (!commit_graph_filter_version_is_known(version))
		builtin_warn("attempting to write a commit-graph, but "
			     "'commitGraph.changedPathsVersion' (%lld) is not "
			     "supported",
			     version);
	else
		return false;
	return true;
}

static int write_graph(struct object_dir_call *call)
{
	const struct call *c = (const struct call *)call;
	struct commit_graph_options o;
	struct input in = {0};
	struct error err = ERROR_INIT;
	bool enabled = true;
	int code;

	if (commit_graph_options_load(&o, call->store.repo, &err) < 0 ||
	    config_bool(&call->store.repo->config, "core.commitgraph", &enabled,
			&err) < 0)
		return builtin_fail(&err);
	if (is_forbidden(&o, enabled))
		return 0;
	o.append = c->append;
	if (c->changed_paths >= 0)
		o.changed_paths = c->changed_paths;
	if (c->max_new_filters != INT64_MIN)
		o.max_new_filters = c->max_new_filters;
	o.dir_nr = call->dir_nr;
	o.progress = call->progress;
	o.split.split = c->split;
	o.split.size_multiple = (uint64_t)c->size_multiple;
	o.split.max_commits = (uint64_t)c->max_commits;
	o.expiry = c->expiry;
	code = take_source(&o, &in, c);
	if (!code)
		code = run_write(call, &o);
	input_release(&in);
	return code;
}

/* ---- verify */

static int verify_graph(struct object_dir_call *call)
{
	const struct call *c = (const struct call *)call;
	struct commit_graph_verify_options o = {
		.dir_nr = call->dir_nr,
		.shallow = c->shallow,
		.threads = repo_threads(call->store.repo),
		.complain = object_dir_print_line,
		.progress = call->progress,
	};
	struct error err = ERROR_INIT;
	int ret;

	/*
	 * The progress meter of `verify` appears at once, not after a second.
	 */
	if (call->want_progress > 0)
		o.progress = output_progress(&call->out, PROGRESS_ON);
	ret = commit_graph_verify_dir(call->store.odb, &o, &err);
	return ret < 0 ? builtin_fail(&err) : ret;
}

/* ---- the command */

static object_dir_fn *parse(struct call *c, int argc, const char **argv)
{
	const struct option write_options[] = {
		OBJECT_DIR_OPTIONS(&c->common),
		{.kind = OPTION_FLAG,
		 .long_name = "reachable",
		 .flag = &c->reachable,
		 .help = "include the commits that refs reach"},
		{.kind = OPTION_FLAG,
		 .long_name = "stdin-packs",
		 .flag = &c->stdin_packs,
		 .help = "include the commits of the packs whose .idx files "
			 "standard input names"},
		{.kind = OPTION_FLAG,
		 .long_name = "stdin-commits",
		 .flag = &c->stdin_commits,
		 .help = "include the commits whose ids standard input lists"},
		{.kind = OPTION_FLAG,
		 .long_name = "append",
		 .flag = &c->append,
		 .help = "include the commits of the existing commit-graph"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "changed-paths",
		 .value = &c->changed_paths,
		 .flags = OPTION_NO_ARG,
		 .fn = object_dir_take_choice,
		 .help = "write changed-path filters, too"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "split",
		 .value = c,
		 .fn = take_split,
		 .flags = OPTION_OPTIONAL_ARG | OPTION_NO_NEGATE,
		 .arg_name = "<strategy>",
		 .help = "add a layer to the chain of commit-graphs"},
		{.kind = OPTION_INT,
		 .long_name = "max-commits",
		 .integer = &c->max_commits,
		 .help = "merge layers until each but the base has at most "
			 "this many commits"},
		{.kind = OPTION_INT,
		 .long_name = "size-multiple",
		 .integer = &c->size_multiple,
		 .help = "merge a layer with the one below unless that is this "
			 "many times larger"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "expire-time",
		 .value = c,
		 .fn = take_expire_time,
		 .arg_name = "<expiry-date>",
		 .help = "delete replaced layers only if they are older than "
			 "this time"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "max-new-filters",
		 .value = &c->max_new_filters,
		 .fn = take_max_new_filters,
		 .arg_name = "<n>",
		 .help = "compute at most this many new changed-path filters"},
		{.kind = OPTION_END},
	};
	const struct option verify_options[] = {
		OBJECT_DIR_OPTIONS(&c->common),
		{.kind = OPTION_FLAG,
		 .long_name = "shallow",
		 .flag = &c->shallow,
		 .help = "verify the newest layer of the chain only"},
		{.kind = OPTION_END},
	};
	const struct option options[] = {
		OBJECT_DIR_OPTION(&c->common),
		{.kind = OPTION_END},
	};
	const struct object_dir_command commands[] = {
		{"write", write_options, write_graph, 0},
		{"verify", verify_options, verify_graph, 0},
		{NULL, options, NULL, 0},
	};

	return object_dir_parse(commands, usage_text, argc, argv);
}

int cmd_commit_graph(int argc, const char **argv, struct builtin_env *env)
{
	struct call c = {
		.common = OBJECT_DIR_CALL_INIT(env),
		.changed_paths = -1,
		.max_new_filters = INT64_MIN,
		.expiry = INT64_MAX,
	};
	object_dir_fn *run = parse(&c, argc, argv);
	int code = run ? 0 : c.died ? 128 : 129;

	if (!code && run == write_graph)
		code = builtin_open_repo_to_change(env, "write a commit-graph");
	if (!code && c.reachable + c.stdin_commits + c.stdin_packs > 1)
		code = builtin_die("use at most one of --reachable, "
				   "--stdin-commits, or --stdin-packs");
	return code ? code : object_dir_run(&c.common, run);
}
