/* SPDX-License-Identifier: MIT */
/* git commit-graph: arguments of walk/commit-graph-write.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/object-dir.h"
#include "repo/commit-graph-verify.h"
#include "repo/config.h"
#include "walk/commit-graph-write.h"

static const char usage_text[] =
	"git commit-graph verify [--object-dir <dir>] [--shallow] "
	"[--[no-]progress]\n"
	"git commit-graph write [--object-dir <dir>] [--reachable | "
	"--stdin-commits] [--[no-]progress]";

struct args {
	struct object_dir_args common;
	bool reachable, stdin_commits; /* of write */
	bool shallow;                  /* of verify */
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

/* ---- ids on standard input */

struct ids {
	struct oid *items; /* owned */
	size_t nr, alloc;
};

static int add_id(struct ids *ids, const char *line, enum hash_algo algo)
{
	struct oid oid;

	if (!oid_from_hex(&oid, line, strlen(line), algo)) {
		builtin_error("unexpected non-hex object ID: %s", line);
		return 1;
	}
	if (mem_grow(&ids->items, &ids->alloc, ids->nr + 1,
		     sizeof(*ids->items)) < 0)
		return builtin_die("out of memory");
	ids->items[ids->nr++] = oid;
	return 0;
}

/* 0, or the exit code. */
static int read_ids(struct ids *ids, enum hash_algo algo)
{
	char *line = NULL;
	size_t alloc = 0;
	ssize_t len;
	int code = 0;

	while (!code && (len = getline(&line, &alloc, stdin)) >= 0) {
		if (len && line[len - 1] == '\n')
			line[len - 1] = '\0';
		code = add_id(ids, line, algo);
	}
	free(line);
	return code;
}

/* ---- write */

static int run_write(struct call *c, struct commit_graph_options *o)
{
	struct error err = ERROR_INIT;
	int ret = commit_graph_write(c->store.odb, o, &err);

	if (ret == ERR_MISSING && o->source == COMMIT_GRAPH_FROM_COMMITS) {
		builtin_error("%s", err.msg);
		return 1;
	}
	return ret < 0 ? builtin_fail(&err) : 0;
}

static int write_graph(struct call *c)
{
	struct commit_graph_options o;
	struct ids ids = {0};
	struct error err = ERROR_INIT;
	bool enabled = true;
	int code = 0;

	if (commit_graph_options_load(&o, c->store.repo, &err) < 0 ||
	    config_bool(&c->store.repo->config, "core.commitgraph", &enabled,
			&err) < 0)
		return builtin_fail(&err);
	if (!enabled) {
		builtin_warn("attempting to write a commit-graph, but "
			     "'core.commitGraph' is disabled");
		return 0;
	}
	o.dir_nr = c->dir_nr;
	o.progress = c->progress;
	if (c->args.stdin_commits) {
		o.source = COMMIT_GRAPH_FROM_COMMITS;
		code = read_ids(&ids, c->store.repo->algo);
		o.commits = ids.items;
		o.commit_nr = ids.nr;
	} else if (!c->args.reachable) {
		o.source = COMMIT_GRAPH_FROM_PACKS;
	}
	if (!code)
		code = run_write(c, &o);
	free(ids.items);
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
		 .long_name = "stdin-commits",
		 .value = &a->stdin_commits,
		 .help = "start walk at commits listed by stdin"},
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
		.args = {.common = OBJECT_DIR_ARGS_INIT},
		.env = env,
	};
	const char *name = object_dir_subcommand(argc, argv);
	int code = parse(&c.args, argc, argv, name);

	if (code)
		return code;
	if (c.args.reachable && c.args.stdin_commits)
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
