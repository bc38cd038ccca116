/* SPDX-License-Identifier: MIT */
/*
 * git multi-pack-index: parses the arguments. midx/multi-pack.h does the work.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/input.h"
#include "builtin/object-dir.h"
#include "config/config.h"
#include "midx/multi-pack-chain.h"
#include "midx/multi-pack.h"

static const char usage_text[] =
	"git multi-pack-index [<options>] write [--preferred-pack=<pack>] "
	"[--[no-]bitmap] [--[no-]incremental] [--[no-]stdin-packs] "
	"[--refs-snapshot=<path>] [--[no-]write-chain-file] "
	"[--base=<checksum>]\n"
	"git multi-pack-index [<options>] compact [--[no-]incremental] "
	"[--[no-]bitmap] [--base=<checksum>] [--[no-]write-chain-file] "
	"<from> <to>\n"
	"git multi-pack-index [<options>] verify\n"
	"git multi-pack-index [<options>] expire\n"
	"git multi-pack-index [<options>] repack [--batch-size=<size>]";

struct call {
	struct object_dir_call common;
	const char *preferred, *refs_snapshot; /* options of write */
	bool stdin_packs, bitmap;
	/*
	 * for `write --stdin-packs`: the names of packs that were read from
	 * standard input
	 */
	struct strlist only;
	unsigned tries_left; /* number of retries left */
	/*
	 * true: other processes have changed the packs, so nothing was written,
	 * and the subcommand must run again
	 */
	bool outdated;
	bool incremental;
	/* 1: write the chain file; 0: --no-write-chain-file is given */
	int chain_file;
	/*
	 * value of --base: the checksum of a layer, or "none"; NULL: the option
	 * is not given
	 */
	const char *base;
	/* for `compact`: checksums of the first and the last layer */
	const char *from, *to;
	uint64_t batch_size; /* of repack */
	/* for `write` and `compact`: how to write a bitmap index */
	struct newpack_options newpack;
};

/* Read pack names from standard input. */
static int read_names(struct strlist *names, struct error *err)
{
	struct stdin_lines in = STDIN_LINES_INIT;
	int ret;

	while ((ret = stdin_lines_next(&in, err)) > 0) {
		/*
		 * As in stock Git, lines that do not name an .idx file are
		 * ignored.
		 */
		if (in.len > 4 && !strcmp(in.line + in.len - 4, ".idx") &&
		    pack_names_add(names, in.line) < 0) {
			ret = error_nomem(err);
			break;
		}
	}
	stdin_lines_release(&in);
	return ret;
}

/*
 * Print an error that ends the command with exit code 255, as in stock Git.
 * Returns 255.
 */
static int fail_softly(const struct error *err)
{
	builtin_error("%s", err->msg);
	return 255;
}

/*
 * Report the result of writing the index and its bitmap index. Returns the exit
 * code.
 */
static int finish_write(int ret, const struct multi_pack_options *o,
			const struct multi_pack_result *result,
			const struct error *err)
{
	if (result->no_such_preferred)
		builtin_warn("unknown preferred pack: '%s'", o->preferred);
	if (result->warning.code)
		builtin_warn("%s", result->warning.msg);
	if (result->not_closed)
		return builtin_fail_midx_bitmap(err);
	if (ret == ERR_MISSING)
		return fail_softly(err);
	return ret < 0 ? builtin_fail(err) : 0;
}

/*
 * Loads the options for writing a bitmap index. As in stock Git, a wrong value
 * in the configuration is an error, even if no bitmap index is written. Returns
 * 0, or prints an error and returns 128.
 */
static int load_bitmap_options(struct call *c)
{
	struct error err = ERROR_INIT;

	if (newpack_bitmap_options_load(&c->newpack, c->common.store.repo,
					&err) < 0)
		return builtin_fail(&err);
	c->newpack.make.progress = c->common.progress;
	return 0;
}

/*
 * Run a subcommand. If other processes change the packs meanwhile, so that
 * nothing was written, reopen the store and retry.
 */
static int run_with_retries(struct object_dir_call *call, object_dir_fn *run)
{
	struct call *c = (struct call *)call;
	int code;

	c->tries_left = MULTI_PACK_MAX_TRIES;
	do {
		c->outdated = false;
		c->tries_left--;
		code = run(call);
		if (c->outdated)
			code = object_dir_reopen(call);
	} while (!code && c->outdated);
	return code;
}

/*
 * Returns whether the subcommand will be retried. If so, the caller must print
 * no error now.
 */
static bool will_retry(struct call *c, bool outdated)
{
	c->outdated = outdated && c->tries_left;
	return c->outdated;
}

/* ---- layers of multi-pack-index chains */

/* Returns the layer of the chain that has the checksum `hex`, or NULL. */
static struct odb_midx *find_layer(const struct call *c, const char *hex)
{
	const struct odb *odb = c->common.store.odb;
	struct oid checksum;

	if (strlen(hex) != hash_hex_len(odb->algo) ||
	    !oid_from_hex(&checksum, hex, strlen(hex), odb->algo))
		return NULL;
	return multi_pack_find_layer(odb, c->common.dir_nr, &checksum);
}

static int no_such_layer(const char *hex)
{
	return builtin_die("could not find MIDX: %s", hex);
}

/*
 * With --no-write-chain-file, print the checksum of the new layer. The program
 * that has called this command needs the checksum to write the chain file.
 */
static void print_checksum(const struct call *c, const uint8_t *checksum)
{
	char hex[OID_MAX_HEX_LEN + 1];

	if (!c->chain_file)
		printf("%s\n", oid_raw_to_hex(hex, checksum,
					      c->common.store.odb->algo));
}

/*
 * Append a layer on top of all layers of the chain, or on top of the layer
 * `base`.
 */
static int append(const struct call *c, struct multi_pack_result *result,
		  const struct multi_pack_options *o, struct odb_midx *base,
		  struct error *err)
{
	const struct multi_pack_layer_options layer = {
		.base = base,
		.no_chain_file = !c->chain_file,
	};
	int ret = multi_pack_append(result, c->common.store.odb, o, &layer,
				    err);

	/*
	 * If there are no packs, no layer is written. As in stock Git, this is
	 * no error.
	 */
	if (ret == ERR_MISSING)
		return 0;
	/*
	 * ret > 0: no layer was written, because there was no new pack. Print
	 * the checksum of the old top layer, if there is one.
	 */
	if (ret == 0 || (ret > 0 && base))
		print_checksum(c, ret ? base->midx.checksum
				      : result->checksum.bytes);
	return ret < 0 ? ret : 0;
}

/*
 * Write a multi-pack-index outside the chain, with the packs of the given
 * layers.
 */
static int write_packs_of(const struct call *c,
			  struct multi_pack_result *result,
			  struct multi_pack_options *o,
			  const struct odb_midx *from,
			  const struct odb_midx *to, struct error *err)
{
	struct strlist only = {0};
	int ret = 0;

	for (const struct odb_midx *om = to; om != from->base; om = om->base)
		for (uint32_t i = 0; i < om->midx.pack_nr && !ret; i++)
			ret = pack_names_add(&only, om->midx.names[i]);
	o->only = &only;
	ret = ret < 0 ? error_nomem(err)
		      : multi_pack_write(result, c->common.store.odb, o, err);
	strlist_release(&only);
	return ret;
}

static int compact_layers(struct call *c, struct odb_midx *from,
			  struct odb_midx *to, struct odb_midx *base)
{
	const struct multi_pack_layer_options layer = {
		.base = base,
		.no_chain_file = !c->chain_file,
	};
	struct multi_pack_options o = {
		.dir_nr = c->common.dir_nr,
		.progress = c->common.progress,
		.refs = c->common.store.refs,
		.bitmap = c->bitmap ? &c->newpack : NULL,
	};
	struct multi_pack_result result = {.warning = ERROR_INIT};
	struct error err = ERROR_INIT;
	int ret;

	if (c->incremental)
		ret = multi_pack_compact(&result, c->common.store.odb, &o, from,
					 to, &layer, &err);
	else
		ret = write_packs_of(c, &result, &o, from, to, &err);
	if (!ret)
		print_checksum(c, result.checksum.bytes);
	if (will_retry(c, result.outdated))
		return 0;
	return finish_write(ret, &o, &result, &err);
}

static bool is_at_or_above(const struct odb_midx *om,
			   const struct odb_midx *other)
{
	while (om && om != other)
		om = om->base;
	return om != NULL;
}

/*
 * Set *base to the layer on which the new layer is built: the one that --base
 * names, or the layer below `from`. NULL: there is none. Returns 0, or prints
 * an error and returns a negative value.
 */
static int find_base(struct odb_midx **base, const struct call *c,
		     const struct odb_midx *from)
{
	*base = from->base;
	if (!c->base)
		return 0;
	*base = find_layer(c, c->base);
	if (strcmp(c->base, "none") != 0 && !is_at_or_above(from->base, *base))
		return builtin_error("could not find base MIDX '%s'", c->base);
	return 0;
}

static int compact_now(struct object_dir_call *call)
{
	struct call *c = (struct call *)call;
	struct odb_midx *from = find_layer(c, c->from);
	struct odb_midx *to = find_layer(c, c->to);
	struct odb_midx *base;

	if (!from || !to)
		return no_such_layer(from ? c->to : c->from);
	if (from == to)
		return builtin_die("MIDX compaction endpoints must be unique");
	if (!is_at_or_above(to, from))
		return builtin_die("MIDX %s must be an ancestor of %s", c->from,
				   c->to);
	if (find_base(&base, c, from))
		return 255;
	return compact_layers(c, from, to, base);
}

/*
 * Check midx.version before layers are compacted into one. Version 1 is an
 * error: it sorts packs by name, but the new layer must keep the packs in the
 * order of the old layers.
 */
static int check_version(const struct config *config)
{
	struct error err = ERROR_INIT;
	uint64_t version = 2;

	if (config_u64(config, "midx.version", &version, &err) < 0)
		return builtin_fail(&err);
	return version == 1 ? builtin_die("cannot perform MIDX compaction with "
					  "v1 format")
			    : 0;
}

static int compact(struct object_dir_call *call)
{
	int code = load_bitmap_options((struct call *)call);

	if (!code)
		code = check_version(&call->store.repo->config);
	return code ? code : run_with_retries(call, compact_now);
}

/* ---- the other subcommands */

/*
 * Write the multi-pack-index of all packs, or of the packs that standard input
 * names.
 */
static int write_now(struct object_dir_call *call)
{
	struct call *c = (struct call *)call;
	struct odb_midx *base = call->store.odb->midxes[call->dir_nr];
	struct multi_pack_options o = {
		.dir_nr = call->dir_nr,
		.only = c->stdin_packs ? &c->only : NULL,
		.keep_current = true,
		.preferred = c->preferred,
		.progress = call->progress,
		.refs = call->store.refs,
		.refs_snapshot = c->refs_snapshot && *c->refs_snapshot
					 ? c->refs_snapshot
					 : NULL,
		.bitmap = c->bitmap ? &c->newpack : NULL,
	};
	struct multi_pack_result result = {.warning = ERROR_INIT};
	struct error err = ERROR_INIT;
	int ret;

	if (c->base) {
		base = find_layer(c, c->base);
		if (!base && strcmp(c->base, "none") != 0)
			return no_such_layer(c->base);
	}
	ret = c->incremental
		      ? append(c, &result, &o, base, &err)
		      : multi_pack_write(&result, call->store.odb, &o, &err);
	if (will_retry(c, result.outdated))
		return 0;
	return finish_write(ret, &o, &result, &err);
}

static int write_midx(struct object_dir_call *call)
{
	struct call *c = (struct call *)call;
	struct error err = ERROR_INIT;
	int code = load_bitmap_options(c);

	if (code)
		return code;
	if (c->stdin_packs && read_names(&c->only, &err) < 0)
		return builtin_fail(&err);
	return run_with_retries(call, write_now);
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

static int expire_now(struct object_dir_call *call)
{
	struct error err = ERROR_INIT;
	bool outdated;
	int ret = multi_pack_expire(&outdated, call->store.odb, call->dir_nr,
				    call->progress, &err);

	if (will_retry((struct call *)call, outdated))
		return 0;
	return ret < 0 ? builtin_fail(&err) : 0;
}

static int expire(struct object_dir_call *call)
{
	return run_with_retries(call, expire_now);
}

/* Write the multi-pack-index again, because a new pack must be added to it. */
static int write_again(struct object_dir_call *call)
{
	return object_dir_reopen(call) ? 128 : write_midx(call);
}

/*
 * If the options select several packs, repack them into one. Returns 1 if a
 * pack was written, 0 if not, or a negative error code.
 *
 * Sets *packing to whether this function has begun to make the new pack. Stock
 * Git makes the pack in a child process, and prints one more message if the
 * child fails. So the caller needs *packing to print the same messages.
 */
static int repack_now(const struct call *c, bool *packing, struct error *err)
{
	const struct odb *odb = c->common.store.odb;
	const struct repo *repo = c->common.store.repo;
	bool pack_kept = false, ofs_delta = true;
	struct newpack_options newpack;
	int ret = config_bool(&repo->config, "repack.packkeptobjects",
			      &pack_kept, err);

	*packing = false;
	if (ret >= 0)
		ret = config_bool(&repo->config, "repack.usedeltabaseoffset",
				  &ofs_delta, err);
	if (ret >= 0)
		ret = multi_pack_repack(odb, c->batch_size, pack_kept, NULL,
					err);
	if (ret <= 0)
		return ret;
	*packing = true;
	ret = newpack_options_load(&newpack, repo, err);
	newpack.ofs_delta = ofs_delta;
	newpack.make.progress = c->common.progress;
	newpack.make.write_progress = c->common.progress;
	return ret < 0 ? ret
		       : multi_pack_repack(odb, c->batch_size, pack_kept,
					   &newpack, err);
}

static int repack(struct object_dir_call *call)
{
	const struct call *c = (const struct call *)call;
	struct error err = ERROR_INIT;
	bool packing;
	int ret;

	if (call->dir_nr && !call->store.odb->midxes[call->dir_nr])
		return 0;
	if (call->dir_nr)
		return builtin_die("repack works only on the repository's own "
				   "object directory");
	ret = repack_now(c, &packing, &err);
	if (ret < 0 && !packing)
		return builtin_fail(&err);
	if (ret < 0) {
		builtin_fail(&err);
		builtin_error("could not finish pack-objects");
		return 1;
	}
	return ret ? write_again(call) : 0;
}

#define BITMAP_OPTION(call)                                                    \
	{                                                                      \
		.kind = OPTION_FLAG, .long_name = "bitmap",                    \
		.flag = &(call)->bitmap,                                       \
		.help = "also write a bitmap index of the packs"               \
	}

#define LAYER_OPTIONS(call)                                                    \
	{.kind = OPTION_FLAG,                                                  \
	 .long_name = "incremental",                                           \
	 .flag = &(call)->incremental,                                         \
	 .help = "add a layer to the chain of multi-pack-indexes"},            \
		{.kind = OPTION_CALLBACK,                                      \
		 .long_name = "write-chain-file",                              \
		 .value = &(call)->chain_file,                                 \
		 .flags = OPTION_NO_ARG,                                       \
		 .fn = object_dir_take_choice,                                 \
		 .help = "also write the file that lists the layers"},         \
	{                                                                      \
		.kind = OPTION_STRING, .long_name = "base",                    \
		.string = &(call)->base, .arg_name = "<checksum>",             \
		.help = "layer below the new layer, or none"                   \
	}

/*
 * Returns true after printing an error if two options contradict each other.
 * `compacts`: the subcommand is `compact`.
 */
static bool is_contradiction(const struct call *c, bool compacts)
{
	if (c->chain_file && c->base && !compacts)
		builtin_error("cannot use --base without "
			      "--no-write-chain-file");
	else if (!c->chain_file && !c->incremental)
		builtin_error("cannot use --no-write-chain-file without "
			      "--incremental");
	else
		return false;
	return true;
}

/*
 * Parse the options that all subcommands have, and the options of this
 * subcommand.
 */
static object_dir_fn *parse(struct call *c, int argc, const char **argv)
{
	const struct option write_options[] = {
		OBJECT_DIR_OPTIONS(&c->common),
		{.kind = OPTION_STRING,
		 .long_name = "preferred-pack",
		 .string = &c->preferred,
		 .arg_name = "<preferred-pack>",
		 .help = "pack to prefer if several packs have an object"},
		BITMAP_OPTION(c),
		LAYER_OPTIONS(c),
		{.kind = OPTION_STRING,
		 .long_name = "refs-snapshot",
		 .string = &c->refs_snapshot,
		 .arg_name = "<path>",
		 .help = "with --bitmap, a file of tips to use instead of "
			 "references"},
		{.kind = OPTION_FLAG,
		 .long_name = "stdin-packs",
		 .flag = &c->stdin_packs,
		 .help = "cover only the packs whose .idx files standard input "
			 "names"},
		{.kind = OPTION_END},
	};
	const struct option compact_options[] = {
		OBJECT_DIR_OPTIONS(&c->common),
		BITMAP_OPTION(c),
		LAYER_OPTIONS(c),
		{.kind = OPTION_END},
	};
	const struct option repack_options[] = {
		OBJECT_DIR_OPTIONS(&c->common),
		{.kind = OPTION_U64,
		 .long_name = "batch-size",
		 .u64 = &c->batch_size,
		 .flags = OPTION_NO_NEGATE,
		 .help = "combine packs smaller than <n> bytes that have this "
			 "size together"},
		{.kind = OPTION_END},
	};
	const struct option options[] = {
		OBJECT_DIR_OPTIONS(&c->common),
		{.kind = OPTION_END},
	};
	const struct object_dir_command commands[] = {
		{"write", write_options, write_midx, 0},
		{"compact", compact_options, compact, 2},
		{"verify", options, verify, 0},
		{"expire", options, expire, 0},
		{"repack", repack_options, repack, 0},
		{NULL, options, NULL, 0},
	};
	object_dir_fn *run = object_dir_parse(commands, usage_text, argc, argv);

	if (run == compact) {
		c->from = argv[2];
		c->to = argv[3];
	}
	if (run && is_contradiction(c, run == compact)) {
		options_usage(run == compact ? compact_options : write_options,
			      usage_text);
		return NULL;
	}
	return run;
}

int cmd_multi_pack_index(int argc, const char **argv, struct builtin_env *env)
{
	struct call c = {
		.common = OBJECT_DIR_CALL_INIT(env),
		.chain_file = 1,
	};
	object_dir_fn *run = parse(&c, argc, argv);
	int code;

	c.common.takes_any_dir = true;
	code = run ? 0 : 129;
	if (!code && run != verify)
		code = builtin_open_repo_to_change(env, "write an index");
	if (!code)
		code = object_dir_run(&c.common, run);

	strlist_release(&c.only);
	return code;
}
