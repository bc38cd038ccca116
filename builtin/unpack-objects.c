/* SPDX-License-Identifier: MIT */
/*
 * git unpack-objects: writes the objects of a pack on standard input as loose
 * objects.
 *
 * The pack is received and indexed in a temporary directory, as in index-pack.
 * Objects are written only when the whole pack is correct, so a refused pack
 * leaves nothing behind. With -r, the readable objects of a damaged pack are
 * written.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "builtin/builtin.h"
#include "builtin/input.h"
#include "builtin/lazy-fetch.h"
#include "builtin/options.h"
#include "builtin/output.h"
#include "odb/fsck-config.h"
#include "odb/known-objects.h"
#include "odb/pack-check.h"
#include "odb/unpack.h"
#include "repo/shallow.h"
#include "sys/tempdir.h"

static const char usage_text[] = "git unpack-objects [-n] [-q] [-r] [--strict]";

enum {
	/* default of core.bigFileThreshold */
	BIG_FILE_DEFAULT = 512 << 20,
	/* exit code of the command if an object is damaged */
	CORRUPT = 1,
};

struct args {
	bool dry_run, quiet, recover;
	uint64_t max_input;
	/* value of --strict: a list of fsck messages; NULL: not given */
	const char *strict;
	const char *header;
};

/* One run of the command. */
struct run {
	struct args a;
	struct repo *repo;               /* borrowed */
	struct builtin_env *env;         /* borrowed */
	struct known_objects *known;     /* owned */
	struct pack_indexer_hooks hooks; /* hooks of `known` */
	struct pack_input input;
	struct fsck_rules rules;
	/* owned; NULL if no checks are requested */
	struct pack_check *check;
	struct pack_indexer *ix; /* owned */
	/* temporary directory of the pack */
	struct sys_tempdir dir;
	struct progress_out out;
	/* true: at least one object of the pack is damaged */
	bool is_damaged;
	/* true: --strict has found a problem in an object */
	bool is_malformed;
	/*
	 * The reason why the input ended before the end of the pack. Its code
	 * is 0 if the whole pack was read.
	 */
	struct error end;
	struct error *err;
};

static int parse(struct args *a, int argc, const char **argv)
{
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'n',
		 .flag = &a->dry_run,
		 .help = "only check the pack, and write no objects"},
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .flag = &a->quiet,
		 .help = "show no progress"},
		{.kind = OPTION_FLAG,
		 .short_name = 'r',
		 .flag = &a->recover,
		 .help = "write the intact objects of a damaged pack"},
		{.kind = OPTION_STRING,
		 .long_name = "strict",
		 .string = &a->strict,
		 .flags = OPTION_OPTIONAL_ARG | OPTION_NO_NEGATE,
		 .dflt = "",
		 .arg_name = "<msg-id>=<severity>...",
		 .help = "check the objects, and that linked objects exist"},
		{.kind = OPTION_U64,
		 .long_name = "max-input-size",
		 .u64 = &a->max_input,
		 .arg_name = "<size>",
		 .help = "refuse a pack larger than <n> bytes"},
		{.kind = OPTION_STRING,
		 .long_name = "pack_header",
		 .string = &a->header},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage_text);

	return operands < 0 ? 129
	       : operands   ? options_usage(options, usage_text)
			    : 0;
}

/* ---- the pack */

static int on_report(void *ctx, const struct fsck_report *report,
		     struct error *err)
{
	struct run *r = ctx;

	r->is_malformed |= report->is_error;
	return pack_input_report(r->repo->algo, report);
}

static int on_broken(void *ctx, bool is_end, const struct error *what)
{
	struct run *r = ctx;

	/* If --strict has found a problem, end with an error, even with -r. */
	if (r->is_malformed)
		return what->code;
	if (!is_end)
		r->is_damaged = true;
	if (!r->a.recover)
		return what->code;
	if (is_end && !r->end.code)
		r->end = *what;
	else
		builtin_error("%s", what->msg);
	return 0;
}

static int prepare_check(struct run *r, struct pack_indexer_config *config)
{
	const struct pack_check_options options = {
		.rules = &r->rules,
		.links = true,
		.threads = config->threads,
		.algo = r->repo->algo,
		.report = on_report,
		.ctx = r,
	};
	int ret;

	if (!r->a.strict)
		return 0;
	fsck_rules_init(&r->rules, r->repo->algo, true);
	ret = fsck_config_list(&r->rules, r->a.strict, r->err);
	if (ret < 0)
		return ret;
	r->check = pack_check_new(&options);
	config->hooks.object = pack_check_object;
	config->hooks.object_ctx = r->check;
	if (!r->check)
		return error_nomem(r->err);
	return repo_shallow_each(r->repo, pack_check_add_boundary, r->check,
				 r->err);
}

static int prepare(struct run *r)
{
	struct pack_indexer_config config = {
		.algo = r->repo->algo,
		.threads = 1,
		.max_len = r->a.max_input,
		.cache_limit = PACK_INDEXER_CACHE_LIMIT,
		.parse_title = "Unpacking objects",
		.parse_progress = output_progress(
			&r->out,
			r->a.quiet ? PROGRESS_OFF : PROGRESS_IF_TERMINAL),
	};
	const struct odb_provider *provider;
	int ret = pack_input_take_header(&r->input, r->a.header, r->err);

	if (!ret)
		ret = known_objects_open(&r->known, r->repo, config.threads,
					 r->err);
	if (!ret)
		ret = lazy_fetch_provider(&provider, r->env, LAZY_FETCH_LISTED,
					  r->err);
	if (ret < 0)
		return ret;
	known_objects_set_provider(r->known, provider);
	r->hooks = config.hooks = known_objects_hooks(r->known);
	config.hooks.broken = on_broken;
	config.hooks.broken_ctx = r;
	ret = prepare_check(r, &config);
	if (ret < 0)
		return ret;
	r->ix = pack_indexer_new(&config);
	return r->ix ? 0 : error_nomem(r->err);
}

static int receive(struct run *r)
{
	int ret = sys_tempdir_create(&r->dir, r->repo->object_dir,
				     "tmp_objdir-unpack-", r->err);

	if (!ret)
		ret = pack_indexer_receive(r->ix, pack_input_source(&r->input),
					   r->dir.path, r->err);
	return ret ? ret : pack_indexer_resolve(r->ix, r->err);
}

static int check(struct run *r)
{
	bool is_self_contained;
	int ret;

	if (!r->check)
		return 0;
	ret = pack_check_links(r->check, &r->hooks, &is_self_contained, r->err);
	return ret ? ret
		   : pack_check_blobs(r->check, r->ix, &r->hooks, NULL, NULL,
				      r->err);
}

/* ---- loose objects */

static int is_known(void *ctx, const struct oid *oid, struct error *err)
{
	const struct run *r = ctx;

	return known_objects_freshen(r->known, oid, err);
}

static int write_objects(struct run *r)
{
	struct unpack_options options = {
		.has = is_known,
		.ctx = r,
		.piecewise_above = BIG_FILE_DEFAULT,
	};
	struct loose_writer w;
	int ret = config_u64(&r->repo->config, "core.bigfilethreshold",
			     &options.piecewise_above, r->err);

	if (ret < 0)
		return ret;
	ret = loose_writer_init(&w, r->repo, r->repo->object_dir, r->err);
	if (!ret)
		ret = unpack_received(r->ix, r->dir.path, &w, &options, r->err);
	loose_writer_release(&w);
	return ret;
}

static int run(struct run *r)
{
	struct pack_indexer_result result;
	int ret = prepare(r);

	if (!ret)
		ret = receive(r);
	if (!ret)
		ret = check(r);
	if (ret < 0)
		return ret;
	pack_indexer_result(r->ix, &result);
	if (!r->a.dry_run && result.nr)
		ret = write_objects(r);
	if (!ret && r->end.code) {
		*r->err = r->end;
		ret = r->end.code;
	}
	return ret;
}

static void run_release(struct run *r)
{
	pack_indexer_free(r->ix);
	pack_check_free(r->check);
	fsck_rules_release(&r->rules);
	known_objects_close(r->known);
	pack_input_release(&r->input);
	sys_tempdir_release(&r->dir);
}

static int finish(struct run *r, int ret)
{
	if (ret < 0 && r->is_damaged && !r->a.recover) {
		builtin_error("%s", r->err->msg);
		return CORRUPT;
	}
	if (ret < 0)
		return builtin_fail(r->err);
	fwrite(r->input.rest.data, 1, r->input.rest.len, stdout);
	return builtin_finish(r->is_damaged ? CORRUPT : 0);
}

int cmd_unpack_objects(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct run r = {
		.input = PACK_INPUT_INIT,
		.end = ERROR_INIT,
		.err = &err,
	};
	int ret = parse(&r.a, argc, argv);

	if (!ret)
		ret = builtin_open_repo(env);
	if (ret)
		return ret;
	r.repo = env->repo;
	r.env = env;
	ret = run(&r);
	ret = finish(&r, ret);
	run_release(&r);
	return ret;
}
