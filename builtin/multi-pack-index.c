/* SPDX-License-Identifier: MIT */
/* git multi-pack-index: arguments of repack/multi-pack.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/object-dir.h"
#include "builtin/stdin-lines.h"
#include "repack/multi-pack.h"
#include "repo/config.h"

static const char usage_text[] =
	"git multi-pack-index [<options>] write [--preferred-pack=<pack>] "
	"[--[no-]bitmap] [--[no-]stdin-packs] [--refs-snapshot=<path>]\n"
	"git multi-pack-index [<options>] verify\n"
	"git multi-pack-index [<options>] expire\n"
	"git multi-pack-index [<options>] repack [--batch-size=<size>]";

struct call {
	struct object_dir_call common;
	const char *preferred, *refs_snapshot; /* of write */
	bool stdin_packs, bitmap;
	uint64_t batch_size; /* of repack */
};

/* Lines of standard input. */
static int read_names(struct named_packs *names, struct error *err)
{
	struct stdin_lines in = STDIN_LINES_INIT;
	int ret;

	while ((ret = stdin_lines_next(&in, err)) > 0) {
		/* Names of indexes; stock Git finds no others either. */
		if (in.len > 4 && !strcmp(in.line + in.len - 4, ".idx") &&
		    named_packs_add(names, in.line) < 0) {
			ret = error_nomem(err);
			break;
		}
	}
	stdin_lines_release(&in);
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

static int write_midx(struct object_dir_call *call)
{
	const struct call *c = (const struct call *)call;
	struct named_packs only = {0};
	struct newpack_options newpack;
	struct multi_pack_options o = {
		.dir_nr = call->dir_nr,
		.only = c->stdin_packs ? &only : NULL,
		.preferred = c->preferred,
		.progress = call->progress,
		.refs = call->store.refs,
		.refs_snapshot = c->refs_snapshot,
	};
	struct multi_pack_result result = {.warning = ERROR_INIT};
	struct error err = ERROR_INIT;
	int ret = c->stdin_packs ? read_names(&only, &err) : 0;

	if (!ret && c->bitmap) {
		ret = newpack_options_load(&newpack, call->store.repo, &err);
		newpack.make.progress = call->progress;
		o.bitmap = &newpack;
	}
	if (!ret)
		ret = multi_pack_write(&result, call->store.odb, &o, &err);
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

static int verify(struct object_dir_call *call)
{
	struct error err = ERROR_INIT;
	int ret = multi_pack_verify(call->store.odb, call->dir_nr,
				    object_dir_print_line, NULL, call->progress,
				    &err);

	if (ret == ERR_NOMEM)
		return builtin_fail(&err);
	if (ret < 0) {
		builtin_error("%s", err.msg);
		builtin_error("multi-pack-index file exists, but failed to "
			      "parse");
	}
	return ret != 0;
}

static int expire(struct object_dir_call *call)
{
	struct error err = ERROR_INIT;
	int ret = multi_pack_expire(call->store.odb, call->dir_nr,
				    call->progress, &err);

	return ret < 0 ? builtin_fail(&err) : 0;
}

/* Cover the new pack too. */
static int write_again(struct object_dir_call *call)
{
	store_close(&call->store);
	if (store_open(&call->store, call->env))
		return 128;
	return write_midx(call);
}

static int repack(struct object_dir_call *call)
{
	const struct call *c = (const struct call *)call;
	struct newpack_options newpack;
	struct error err = ERROR_INIT;
	bool pack_kept = false;
	int ret;

	if (call->dir_nr)
		return builtin_die("repack is for the repository's own object "
				   "directory");
	ret = newpack_options_load(&newpack, call->store.repo, &err);
	if (!ret && config_bool(&call->store.repo->config,
				"repack.packkeptobjects", &pack_kept, &err) < 0)
		ret = ERR_INVALID;
	if (!ret &&
	    config_bool(&call->store.repo->config, "repack.usedeltabaseoffset",
			&newpack.ofs_delta, &err) < 0)
		ret = ERR_INVALID;
	newpack.make.progress = call->progress;
	newpack.make.write_progress = call->progress;
	if (!ret)
		ret = multi_pack_repack(call->store.odb, c->batch_size,
					pack_kept, &newpack, &err);
	if (ret < 0)
		return builtin_fail(&err);
	return ret ? write_again(call) : 0;
}

/* Options of all subcommands, and of this one. */
static object_dir_fn *parse(struct call *c, int argc, const char **argv)
{
	const struct option write_options[] = {
		OBJECT_DIR_OPTIONS(&c->common),
		{.kind = OPTION_STRING,
		 .long_name = "preferred-pack",
		 .value = &c->preferred,
		 .arg_name = "<preferred-pack>",
		 .help = "pack whose copies of objects are taken"},
		{.kind = OPTION_FLAG,
		 .long_name = "bitmap",
		 .value = &c->bitmap,
		 .help = "write a bitmap index of the packs too"},
		{.kind = OPTION_STRING,
		 .long_name = "refs-snapshot",
		 .value = &c->refs_snapshot,
		 .arg_name = "<path>",
		 .help = "with --bitmap, a file of tips to use instead of "
			 "references"},
		{.kind = OPTION_FLAG,
		 .long_name = "stdin-packs",
		 .value = &c->stdin_packs,
		 .help = "write multi-pack index containing only given "
			 "indexes"},
		{.kind = OPTION_END},
	};
	const struct option repack_options[] = {
		OBJECT_DIR_OPTIONS(&c->common),
		{.kind = OPTION_U64,
		 .long_name = "batch-size",
		 .value = &c->batch_size,
		 .help = "during repack, collect pack-files of smaller size "
			 "into a batch that is larger than this size"},
		{.kind = OPTION_END},
	};
	const struct option options[] = {
		OBJECT_DIR_OPTIONS(&c->common),
		{.kind = OPTION_END},
	};
	const struct object_dir_command commands[] = {
		{"write", write_options, write_midx},
		{"verify", options, verify},
		{"expire", options, expire},
		{"repack", repack_options, repack},
		{NULL, options, NULL},
	};

	return object_dir_parse(commands, usage_text, argc, argv);
}

int cmd_multi_pack_index(int argc, const char **argv, struct builtin_env *env)
{
	struct call c = {.common = OBJECT_DIR_CALL_INIT(env)};
	object_dir_fn *run = parse(&c, argc, argv);

	return run ? object_dir_run(&c.common, run) : 129;
}
