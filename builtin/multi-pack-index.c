/* SPDX-License-Identifier: MIT */
/* git multi-pack-index: arguments of repack/multi-pack.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/object-dir.h"
#include "repack/multi-pack.h"
#include "repo/config.h"

static const char usage_text[] =
	"git multi-pack-index [<options>] write [--preferred-pack=<pack>] "
	"[--[no-]bitmap] [--[no-]stdin-packs] [--refs-snapshot=<path>]\n"
	"git multi-pack-index [<options>] verify\n"
	"git multi-pack-index [<options>] expire\n"
	"git multi-pack-index [<options>] repack [--batch-size=<size>]";

struct args {
	struct object_dir_args common;
	const char *preferred, *refs_snapshot;
	bool stdin_packs, bitmap;
	uint64_t batch_size;
};

/* A command in the making. */
struct call {
	struct args args;
	struct builtin_env *env;
	struct store store;
	size_t dir_nr; /* of --object-dir */
	struct progress_out out;
	const struct progress_out *progress;
};

static int open_call(struct call *c)
{
	int code = store_open(&c->store, c->env);

	c->progress = object_dir_progress(&c->out, &c->args.common);
	return code ? code
		    : object_dir_choose(&c->dir_nr, &c->store, &c->args.common);
}

/* Lines of standard input. */
static int read_names(struct named_packs *names)
{
	char *line = NULL;
	size_t alloc = 0;
	ssize_t len;
	int ret = 0;

	while (!ret && (len = getline(&line, &alloc, stdin)) >= 0) {
		if (len && line[len - 1] == '\n')
			line[--len] = '\0';
		/* Names of indexes; stock Git finds no others either. */
		if (len > 4 && !strcmp(line + len - 4, ".idx"))
			ret = named_packs_add(names, line);
	}
	free(line);
	return ret;
}

/* Nothing was written: the bitmap index would be wrong. */
static int fail_bitmap(const struct error *err)
{
	builtin_warn("Failed to write bitmap index. Packfile doesn't have full "
		     "closure (%s)",
		     err->msg);
	builtin_error("could not write multi-pack bitmap");
	return 255;
}

/* An error that is not the end of the world, as stock Git has it. */
static int fail_softly(const struct error *err)
{
	builtin_error("%s", err->msg);
	return 1;
}

static int write_midx(struct call *c)
{
	struct named_packs only = {0};
	struct newpack_options newpack;
	struct multi_pack_options o = {
		.dir_nr = c->dir_nr,
		.only = c->args.stdin_packs ? &only : NULL,
		.preferred = c->args.preferred,
		.progress = c->progress,
		.refs = c->store.refs,
		.refs_snapshot = c->args.refs_snapshot,
	};
	struct multi_pack_result result = {.warning = ERROR_INIT};
	struct error err = ERROR_INIT;
	int ret = c->args.stdin_packs ? read_names(&only) : 0;

	if (ret < 0)
		ret = error_nomem(&err);
	if (!ret && c->args.bitmap) {
		ret = newpack_options_load(&newpack, c->store.repo, &err);
		newpack.make.progress = c->progress;
		o.bitmap = &newpack;
	}
	if (!ret)
		ret = multi_pack_write(&result, c->store.odb, &o, &err);
	named_packs_release(&only);
	if (result.no_such_preferred)
		builtin_warn("unknown preferred pack: '%s'", o.preferred);
	if (result.warning.code)
		builtin_warn("%s", result.warning.msg);
	if (result.not_closed)
		return fail_bitmap(&err);
	if (ret == ERR_MISSING || ret == ERR_INVALID)
		return fail_softly(&err);
	return ret < 0 ? builtin_fail(&err) : 0;
}

static void print_line(void *ctx, const char *line)
{
	fprintf(stderr, "%s\n", line);
}

static int verify(struct call *c)
{
	struct error err = ERROR_INIT;
	int ret = multi_pack_verify(c->store.odb, c->dir_nr, print_line, NULL,
				    c->progress, &err);

	if (ret == ERR_NOMEM)
		return builtin_fail(&err);
	if (ret < 0) {
		builtin_error("%s", err.msg);
		builtin_error("multi-pack-index file exists, but failed to "
			      "parse");
	}
	return ret != 0;
}

static int expire(struct call *c)
{
	struct error err = ERROR_INIT;
	int ret = multi_pack_expire(c->store.odb, c->dir_nr, c->progress, &err);

	return ret < 0 ? builtin_fail(&err) : 0;
}

/* Cover the new pack too. */
static int write_again(struct call *c)
{
	store_close(&c->store);
	if (store_open(&c->store, c->env))
		return 128;
	c->args.preferred = NULL;
	c->args.stdin_packs = c->args.bitmap = false;
	return write_midx(c);
}

static int repack(struct call *c)
{
	struct newpack_options newpack;
	struct error err = ERROR_INIT;
	bool pack_kept = false;
	int ret;

	if (c->dir_nr)
		return builtin_die("repack is for the repository's own object "
				   "directory");
	ret = newpack_options_load(&newpack, c->store.repo, &err);
	if (!ret && config_bool(&c->store.repo->config,
				"repack.packkeptobjects", &pack_kept, &err) < 0)
		ret = ERR_INVALID;
	if (!ret &&
	    config_bool(&c->store.repo->config, "repack.usedeltabaseoffset",
			&newpack.ofs_delta, &err) < 0)
		ret = ERR_INVALID;
	newpack.make.progress = c->progress;
	newpack.make.write_progress = c->progress;
	if (!ret)
		ret = multi_pack_repack(c->store.odb, c->args.batch_size,
					pack_kept, &newpack, &err);
	if (ret < 0)
		return builtin_fail(&err);
	return ret ? write_again(c) : 0;
}

static const struct {
	const char *name;
	int (*run)(struct call *c);
} subcommands[] = {
	{"write", write_midx},
	{"verify", verify},
	{"expire", expire},
	{"repack", repack},
};

/* NULL: there is no such subcommand. */
static int (*find_run(const char *name))(struct call *)
{
	for (size_t i = 0; i < ARRAY_NR(subcommands); i++)
		if (!strcmp(subcommands[i].name, name))
			return subcommands[i].run;
	return NULL;
}

/* Options of all subcommands, and of this one. */
static int parse(struct args *a, int argc, const char **argv, const char *name)
{
	const struct option write_options[] = {
		OBJECT_DIR_OPTIONS(&a->common),
		{.kind = OPTION_STRING,
		 .long_name = "preferred-pack",
		 .value = &a->preferred,
		 .arg_name = "<preferred-pack>",
		 .help = "pack whose copies of objects are taken"},
		{.kind = OPTION_FLAG,
		 .long_name = "bitmap",
		 .value = &a->bitmap,
		 .help = "write a bitmap index of the packs too"},
		{.kind = OPTION_STRING,
		 .long_name = "refs-snapshot",
		 .value = &a->refs_snapshot,
		 .arg_name = "<path>",
		 .help = "with --bitmap, a file of tips to use instead of "
			 "references"},
		{.kind = OPTION_FLAG,
		 .long_name = "stdin-packs",
		 .value = &a->stdin_packs,
		 .help = "write multi-pack index containing only given "
			 "indexes"},
		{.kind = OPTION_END},
	};
	const struct option repack_options[] = {
		OBJECT_DIR_OPTIONS(&a->common),
		{.kind = OPTION_U64,
		 .long_name = "batch-size",
		 .value = &a->batch_size,
		 .help = "during repack, collect pack-files of smaller size "
			 "into a batch that is larger than this size"},
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
	else if (name && !strcmp(name, "repack"))
		table = repack_options;
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

int cmd_multi_pack_index(int argc, const char **argv, struct builtin_env *env)
{
	struct call c = {.args = {.common = OBJECT_DIR_ARGS_INIT}, .env = env};
	const char *name = object_dir_subcommand(argc, argv);
	int code = parse(&c.args, argc, argv, name);

	if (code)
		return code;
	code = open_call(&c);
	if (!code)
		code = find_run(argv[1])(&c);
	store_close(&c.store);
	return builtin_finish(code);
}
