/* SPDX-License-Identifier: MIT */
/* git repack: arguments and configuration of repack/repack.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/options.h"
#include "builtin/packing.h"
#include "repack/repack.h"
#include "repo/config.h"

static const char usage_text[] = "git repack [<options>]";

/* What was given on the command line. */
struct args {
	struct packing_args packing;
	bool all, remove_redundant, local, no_server_info;
	/* 1, 0, or -1: not given */
	int write_bitmap, pack_kept_objects, delta_islands;
};

/* For an option that has a default of its own: 1, or 0 with --no-. */
static int take_choice(void *value, const char *arg)
{
	*(int *)value = arg != option_negated;
	return 0;
}

static int parse(struct args *a, int argc, const char **argv)
{
	const struct option options[] = {
		{OPTION_FLAG, 'a', NULL, &a->all,
		 "pack everything in a single pack", 0, NULL, NULL, NULL},
		{OPTION_FLAG, 'd', NULL, &a->remove_redundant,
		 "remove redundant packs", 0, NULL, NULL, NULL},
		{OPTION_FLAG, 'f', NULL, &a->packing.no_reuse_delta,
		 "compute deltas anew", 0, NULL, NULL, NULL},
		{OPTION_FLAG, 'F', NULL, &a->packing.no_reuse_object,
		 "deflate objects anew", 0, NULL, NULL, NULL},
		{OPTION_FLAG, 'n', NULL, &a->no_server_info,
		 "do not update the files for dumb clients", 0, NULL, NULL,
		 NULL},
		{OPTION_FLAG, 'q', "quiet", &a->packing.quiet, "be quiet", 0,
		 NULL, NULL, NULL},
		{OPTION_FLAG, 'l', "local", &a->local,
		 "leave out what alternates have", 0, NULL, NULL, NULL},
		{OPTION_CALLBACK, 'b', "write-bitmap-index", &a->write_bitmap,
		 "write a bitmap index", OPTION_NO_ARG, NULL, take_choice,
		 NULL},
		{OPTION_CALLBACK, 'i', "delta-islands", &a->delta_islands,
		 "no delta leaves an island", OPTION_NO_ARG, NULL, take_choice,
		 NULL},
		{OPTION_CALLBACK, 0, "pack-kept-objects", &a->pack_kept_objects,
		 "pack objects of packs with .keep too", OPTION_NO_ARG, NULL,
		 take_choice, NULL},
		PACKING_OPTIONS(&a->packing),
		{0},
	};
	int operands = options_parse(argc, argv, options, usage_text);

	if (operands > 0)
		return options_usage(options, usage_text);
	return operands < 0 ? 129 : 0;
}

/*
 * What was asked for, on the command line or by configuration, is an error
 * where it cannot be; the default of bare repositories is not.
 */
static int load_bitmap_option(struct repack_options *o, const struct args *a,
			      const struct repo *repo, struct error *err)
{
	static const char *const keys[] = {
		"repack.writebitmaps",
		"pack.writebitmaps",
	};
	bool wanted = a->write_bitmap > 0;
	int found = a->write_bitmap >= 0;

	for (size_t i = 0; i < ARRAY_NR(keys) && !found; i++)
		found = config_bool(&repo->config, keys[i], &wanted, err);
	if (found < 0)
		return found;
	o->bitmap_is_default = !found;
	o->write_bitmap = found ? wanted : repo->is_bare && a->all;
	if (o->write_bitmap && !a->all)
		return error_set(err, ERR_INVALID,
				 "incremental repacks are incompatible with "
				 "bitmap indexes; use "
				 "--no-write-bitmap-index or disable "
				 "repack.writeBitmaps");
	return 0;
}

static int load_options(struct repack_options *o, const struct args *a,
			const struct repo *repo, struct error *err)
{
	int ret = newpack_options_load(&o->newpack, repo, err);

	o->all = a->all;
	o->remove_redundant = a->remove_redundant;
	o->local = a->local;
	packing_apply(&o->newpack, &a->packing);
	if (!ret)
		ret = load_bitmap_option(o, a, repo, err);
	/* An index covers all reachable objects, also those of kept packs. */
	o->pack_kept_objects = o->write_bitmap && !o->bitmap_is_default;
	if (!ret && config_bool(&repo->config, "repack.packkeptobjects",
				&o->pack_kept_objects, err) < 0)
		ret = ERR_INVALID;
	if (a->pack_kept_objects >= 0)
		o->pack_kept_objects = a->pack_kept_objects;
	o->update_server_info = true;
	if (!ret && config_bool(&repo->config, "repack.updateserverinfo",
				&o->update_server_info, err) < 0)
		ret = ERR_INVALID;
	if (!ret && config_bool(&repo->config, "repack.usedeltabaseoffset",
				&o->newpack.ofs_delta, err) < 0)
		ret = ERR_INVALID;
	if (!ret && config_bool(&repo->config, "repack.usedeltaislands",
				&o->delta_islands, err) < 0)
		ret = ERR_INVALID;
	if (a->delta_islands >= 0)
		o->delta_islands = a->delta_islands;
	if (a->no_server_info)
		o->update_server_info = false;
	return ret;
}

static void print_total(const struct repack_result *result)
{
	fprintf(stderr,
		"Total %u (delta %u), reused %u (delta %u), pack-reused 0\n",
		result->report.objects, result->report.deltas,
		result->report.reused, result->report.reused_deltas);
}

int cmd_repack(int argc, const char **argv, struct builtin_env *env)
{
	struct args a = {
		.packing = PACKING_ARGS_INIT,
		.write_bitmap = -1,
		.pack_kept_objects = -1,
		.delta_islands = -1,
	};
	struct progress_out out;
	struct repack_options options = {.all = false};
	struct repack_result result;
	struct error err = ERROR_INIT;
	int ret = parse(&a, argc, argv);

	if (!ret)
		ret = builtin_open_repo(env);
	if (ret)
		return ret;
	if (load_options(&options, &a, env->repo, &err) < 0)
		return builtin_fail(&err);
	options.newpack.make.progress = packing_progress(&out, &a.packing);
	options.newpack.make.write_progress = options.newpack.make.progress;
	if (repack_run(&result, env->repo, &options, &err) < 0)
		return builtin_fail(&err);
	if (result.warning.code)
		builtin_warn("%s", result.warning.msg);
	if (!result.is_new && !a.packing.quiet)
		printf("Nothing new to pack.\n");
	else if (result.is_new && options.newpack.make.progress)
		print_total(&result);
	return builtin_finish(0);
}
