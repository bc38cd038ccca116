/* SPDX-License-Identifier: MIT */
/* git commit-graph: arguments of walk/commit-graph-write.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/object-dir.h"
#include "repo/commit-graph-verify.h"
#include "repo/config.h"
#include "sys/clock.h"
#include "walk/commit-graph-write.h"

static const char usage_text[] =
	"git commit-graph verify [--object-dir <dir>] [--shallow] "
	"[--[no-]progress]\n"
	"git commit-graph write [--object-dir <dir>] [--append] "
	"[--split[=<strategy>]] [--reachable | --stdin-packs | "
	"--stdin-commits] [--changed-paths] [--[no-]max-new-filters <n>] "
	"[--[no-]progress] <split-options>";

struct args {
	struct object_dir_args common;
	bool reachable, stdin_packs, stdin_commits, append; /* of write */
	int changed_paths;                                  /* -1: not given */
	int64_t max_new_filters; /* INT64_MIN: not given */
	const char *split;       /* NULL: not given; "": no strategy */
	uint64_t size_multiple, max_commits;
	const char *expire_time;
	bool shallow; /* of verify */
};

/* A command in the making. */
struct call {
	struct args args;
	struct builtin_env *env;
	struct store store;
	struct progress_out out;
	const struct progress_out *progress;
	size_t dir_nr; /* of --object-dir */
};

/* ---- standard input */

/* What its lines say. */
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

static int add_id(struct input *in, const char *line, enum hash_algo algo)
{
	struct oid oid;

	if (!oid_from_hex(&oid, line, strlen(line), algo)) {
		builtin_error("unexpected non-hex object ID: %s", line);
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

/* 0, or the exit code. */
static int read_input(struct input *in, bool packs, enum hash_algo algo)
{
	char *line = NULL;
	size_t alloc = 0;
	ssize_t len;
	int code = 0;

	while (!code && (len = getline(&line, &alloc, stdin)) >= 0) {
		if (len && line[len - 1] == '\n')
			line[len - 1] = '\0';
		code = packs ? add_pack(in, line) : add_id(in, line, algo);
	}
	free(line);
	return code;
}

/* ---- write */

static int take_split(struct commit_graph_options *o, const struct args *a)
{
	o->split.size_multiple = a->size_multiple;
	o->split.max_commits = a->max_commits;
	if (a->expire_time &&
	    approxidate_parse_expiry(&o->expiry, a->expire_time,
				     sys_clock_seconds()) < 0)
		return builtin_die("malformed expiration date '%s'",
				   a->expire_time);
	if (!a->split)
		return 0;
	if (!*a->split)
		o->split.split = COMMIT_GRAPH_SPLIT_MERGE;
	else if (!strcmp(a->split, "no-merge"))
		o->split.split = COMMIT_GRAPH_SPLIT_NO_MERGE;
	else if (!strcmp(a->split, "replace"))
		o->split.split = COMMIT_GRAPH_SPLIT_REPLACE;
	else
		return builtin_die("unrecognized --split argument, %s",
				   a->split);
	return 0;
}

/* Where the commits come from, read from standard input if need be. */
static int take_source(struct commit_graph_options *o, struct input *in,
		       const struct call *c)
{
	const struct args *a = &c->args;
	int code = 0;

	o->source = a->reachable       ? COMMIT_GRAPH_FROM_REFS
		    : a->stdin_commits ? COMMIT_GRAPH_FROM_COMMITS
		    : a->stdin_packs   ? COMMIT_GRAPH_FROM_NAMED
				       : COMMIT_GRAPH_FROM_PACKS;
	if (a->stdin_commits || a->stdin_packs)
		code = read_input(in, a->stdin_packs, c->store.repo->algo);
	o->commits = in->ids;
	o->commit_nr = in->id_nr;
	o->packs = (const char *const *)in->packs;
	o->pack_nr = in->pack_nr;
	return code;
}

static int run_write(struct call *c, const struct commit_graph_options *o)
{
	struct error err = ERROR_INIT;
	int ret = commit_graph_write(c->store.odb, o, &err);

	if (ret == ERR_INVALID && (o->commit_nr || o->pack_nr)) {
		builtin_error("%s", err.msg);
		return 1;
	}
	return ret < 0 ? builtin_fail(&err) : 0;
}

static int write_graph(struct call *c)
{
	struct commit_graph_options o;
	struct input in = {0};
	struct error err = ERROR_INIT;
	bool enabled = true;
	int code;

	if (commit_graph_options_load(&o, c->store.repo, &err) < 0 ||
	    config_bool(&c->store.repo->config, "core.commitgraph", &enabled,
			&err) < 0)
		return builtin_fail(&err);
	if (!enabled) {
		builtin_warn("attempting to write a commit-graph, but "
			     "'core.commitGraph' is disabled");
		return 0;
	}
	o.append = c->args.append;
	if (c->args.changed_paths >= 0)
		o.changed_paths = c->args.changed_paths;
	if (c->args.max_new_filters != INT64_MIN)
		o.max_new_filters = c->args.max_new_filters;
	o.dir_nr = c->dir_nr;
	o.progress = c->progress;
	code = take_split(&o, &c->args);
	if (!code)
		code = take_source(&o, &in, c);
	if (!code)
		code = run_write(c, &o);
	input_release(&in);
	return code;
}

/* ---- verify */

static void print_line(void *ctx, const char *line)
{
	fprintf(stderr, "%s\n", line);
}

static int verify_graph(struct call *c)
{
	const struct commit_graph_verify_options o = {
		.dir_nr = c->dir_nr,
		.shallow = c->args.shallow,
		.complain = print_line,
		.progress = c->progress,
	};
	struct error err = ERROR_INIT;
	int ret = commit_graph_verify_dir(c->store.odb, &o, &err);

	return ret < 0 ? builtin_fail(&err) : ret;
}

/* ---- the command */

static const struct {
	const char *name;
	int (*run)(struct call *c);
} subcommands[] = {
	{"write", write_graph},
	{"verify", verify_graph},
};

/* NULL: there is no such subcommand. */
static int (*find_run(const char *name))(struct call *)
{
	for (size_t i = 0; i < ARRAY_NR(subcommands); i++)
		if (!strcmp(subcommands[i].name, name))
			return subcommands[i].run;
	return NULL;
}

static int parse(struct args *a, int argc, const char **argv, const char *name)
{
	const struct option write_options[] = {
		OBJECT_DIR_OPTIONS(&a->common),
		{.kind = OPTION_FLAG,
		 .long_name = "reachable",
		 .value = &a->reachable,
		 .help = "start walk at all refs"},
		{.kind = OPTION_FLAG,
		 .long_name = "stdin-packs",
		 .value = &a->stdin_packs,
		 .help = "scan pack-indexes listed by stdin for commits"},
		{.kind = OPTION_FLAG,
		 .long_name = "stdin-commits",
		 .value = &a->stdin_commits,
		 .help = "start walk at commits listed by stdin"},
		{.kind = OPTION_FLAG,
		 .long_name = "append",
		 .value = &a->append,
		 .help = "include all commits already in the commit-graph "
			 "file"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "changed-paths",
		 .value = &a->changed_paths,
		 .flags = OPTION_NO_ARG,
		 .fn = object_dir_take_choice,
		 .help = "enable computation for changed paths"},
		{.kind = OPTION_I64,
		 .long_name = "max-new-filters",
		 .value = &a->max_new_filters,
		 .help = "maximum number of changed-path Bloom filters to "
			 "compute"},
		{.kind = OPTION_STRING,
		 .long_name = "split",
		 .value = &a->split,
		 .flags = OPTION_OPTIONAL_ARG | OPTION_NO_NEGATE,
		 .dflt = "",
		 .arg_name = "<strategy>",
		 .help = "allow writing an incremental commit-graph file"},
		{.kind = OPTION_U64,
		 .long_name = "max-commits",
		 .value = &a->max_commits,
		 .help = "maximum number of commits in a non-base split "
			 "commit-graph"},
		{.kind = OPTION_U64,
		 .long_name = "size-multiple",
		 .value = &a->size_multiple,
		 .help = "maximum ratio between two levels of a split "
			 "commit-graph"},
		{.kind = OPTION_STRING,
		 .long_name = "expire-time",
		 .value = &a->expire_time,
		 .arg_name = "<expiry-date>",
		 .help = "only expire files older than a given date-time"},
		{.kind = OPTION_END},
	};
	const struct option verify_options[] = {
		OBJECT_DIR_OPTIONS(&a->common),
		{.kind = OPTION_FLAG,
		 .long_name = "shallow",
		 .value = &a->shallow,
		 .help = "if the commit-graph is split, only verify the tip "
			 "file"},
		{.kind = OPTION_END},
	};
	const struct option options[] = {
		OBJECT_DIR_OPTIONS(&a->common),
		{.kind = OPTION_END},
	};
	const struct option *table = options;
	int operands;

	if (name && !strcmp(name, "write"))
		table = write_options;
	else if (name && !strcmp(name, "verify"))
		table = verify_options;
	operands = options_parse(argc, argv, table, usage_text);
	if (operands < 0)
		return 129;
	if (!operands)
		builtin_error("need a subcommand");
	else if (!find_run(argv[1]))
		builtin_error("unknown subcommand: `%s'", argv[1]);
	else if (operands == 1)
		return 0;
	return options_usage(table, usage_text);
}

int cmd_commit_graph(int argc, const char **argv, struct builtin_env *env)
{
	struct call c = {
		.args = {.common = OBJECT_DIR_ARGS_INIT,
			 .changed_paths = -1,
			 .max_new_filters = INT64_MIN},
		.env = env,
	};
	const char *name = object_dir_subcommand(argc, argv);
	int code = parse(&c.args, argc, argv, name);

	if (code)
		return code;
	if (c.args.reachable + c.args.stdin_commits + c.args.stdin_packs > 1)
		return builtin_die("use at most one of --reachable, "
				   "--stdin-commits, or --stdin-packs");
	code = store_open(&c.store, env);
	c.progress = object_dir_progress(&c.out, &c.args.common);
	if (!code)
		code = object_dir_choose(&c.dir_nr, &c.store, &c.args.common);
	if (!code)
		code = find_run(argv[1])(&c);
	store_close(&c.store);
	return builtin_finish(code);
}
