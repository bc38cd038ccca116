/* SPDX-License-Identifier: MIT */
/*
 * git repack: parses the arguments and the configuration. repack/repack.h does
 * the work.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/approxidate.h"
#include "base/buf.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/filterargs.h"
#include "builtin/lazy-fetch.h"
#include "builtin/options.h"
#include "builtin/output.h"
#include "builtin/pack-args.h"
#include "config/config.h"
#include "packs/layered.h"
#include "repack/cruft.h"
#include "repack/repack.h"
#include "sys/clock.h"

static const char usage_text[] = "git repack [<options>]";

/* The arguments of git repack. */
struct args {
	struct pack_args packing;
	/*
	 * The arguments of the numeric options, as text; NULL: the option is
	 * not given. They are parsed after all other checks, as in stock Git.
	 */
	const char *window, *window_memory, *depth, *threads;
	bool all, loosen, remove_redundant, local, no_server_info;
	bool cruft, keep_unreachable, quiet;
	/* 1, 0, or -1: not given */
	int write_bitmap, pack_kept_objects, delta_islands;
	struct midx_choice {
		bool wanted, layers;
	} write_midx;
	const char *unpack_unreachable, *cruft_expiration; /* dates */
	const char *expire_to, *filter_to;
	struct filter_args filter;
	int64_t geometric;
	uint64_t max_cruft_size, combine_cruft_below;
	struct strlist keep_packs;
};

static int take_midx(void *value, const char *arg)
{
	struct midx_choice *choice = value;

	*choice = (struct midx_choice){.wanted = arg != option_negated};
	if (!arg || arg == option_negated || !strcmp(arg, "default"))
		return 0;
	choice->layers = !strcmp(arg, "incremental");
	return choice->layers ? 0
			      : builtin_error("unknown value for write-midx: "
					      "%s",
					      arg);
}

#define FLAG(letter, name, field, text)                                        \
	OPTION_ROW_FLAG(letter, name, field, text)
#define TEXT(name, field, arg, text)                                           \
	OPTION_ROW_STRING(0, name, field, arg, text)
#define SIZE(name, field, text)                                                \
	{                                                                      \
		.kind = OPTION_U64, .long_name = name, .u64 = field,           \
		.flags = OPTION_NO_NEGATE, .help = text                        \
	}
#define CHOICE(letter, name, field, text)                                      \
	{                                                                      \
		.kind = OPTION_CALLBACK, .short_name = letter,                 \
		.long_name = name, .value = field, .flags = OPTION_NO_ARG,     \
		.fn = pack_args_take_choice, .help = text                      \
	}

static int parse(struct args *a, int argc, const char **argv)
{
	const struct option options[] = {
		FLAG('a', NULL, &a->all, "make one pack of all objects"),
		FLAG('A', NULL, &a->loosen,
		     "as -a; with -d, make unreachable objects loose"),
		FLAG('d', NULL, &a->remove_redundant,
		     "delete packs that are no longer needed"),
		FLAG(0, "cruft", &a->cruft,
		     "as -a; with -d, put unreachable ones in a cruft pack"),
		TEXT("cruft-expiration", &a->cruft_expiration, "<approxidate>",
		     "with --cruft, delete older unreachable objects"),
		SIZE("combine-cruft-below-size", &a->combine_cruft_below,
		     "with --cruft, leave larger cruft packs alone"),
		SIZE("max-cruft-size", &a->max_cruft_size,
		     "with --cruft, limit the size of cruft packs"),
		TEXT("expire-to", &a->expire_to, "<dir>",
		     "with --cruft, base name of a pack of deleted objects"),
		OPTION_ROW_CALLBACK(
			0, "filter", filter_args_option, &a->filter,
			"<filter-spec>",
			"write the objects it excludes to a second pack"),
		TEXT("filter-to", &a->filter_to, "<base>",
		     "with --filter, base name of the second pack"),
		FLAG('f', NULL, &a->packing.no_reuse_delta,
		     "compute all deltas again"),
		FLAG('F', NULL, &a->packing.no_reuse_object,
		     "compute all deltas and compress all objects again"),
		FLAG('n', NULL, &a->no_server_info,
		     "do not update the files for dumb clients"),
		FLAG('q', "quiet", &a->quiet, "be quiet"),
		FLAG('l', "local", &a->local,
		     "leave out objects of alternates"),
		CHOICE('b', "write-bitmap-index", &a->write_bitmap,
		       "write a bitmap index"),
		{.kind = OPTION_CALLBACK,
		 .short_name = 'm',
		 .value = &a->write_midx,
		 .flags = OPTION_NO_ARG,
		 .fn = take_midx,
		 .help = "same as --write-midx"},
		OPTION_ROW_OPTIONAL(
			0, "write-midx", take_midx, &a->write_midx, 0, "<mode>",
			"write a multi-pack-index of the remaining packs"),
		CHOICE('i', "delta-islands", &a->delta_islands,
		       "write no delta that leaves its delta island"),
		TEXT("unpack-unreachable", &a->unpack_unreachable,
		     "<approxidate>",
		     "with -A, delete older unreachable objects"),
		FLAG('k', "keep-unreachable", &a->keep_unreachable,
		     "with -a, also pack unreachable objects"),
		CHOICE(0, "pack-kept-objects", &a->pack_kept_objects,
		       "also pack the objects of packs that have a .keep file"),
		OPTION_ROW_CALLBACK(0, "keep-pack", pack_args_take_pack,
				    &a->keep_packs, "<name>",
				    "do not repack or delete this pack"),
		{.kind = OPTION_INT,
		 .short_name = 'g',
		 .long_name = "geometric",
		 .integer = &a->geometric,
		 .help = "combine small packs: each pack is <n> times the "
			 "next"},
		TEXT("window", &a->window, "<n>",
		     "number of bases that are tried for a delta"),
		TEXT("depth", &a->depth, "<n>",
		     "maximum length of a delta chain"),
		TEXT("threads", &a->threads, "<n>", "number of threads"),
		TEXT("window-memory", &a->window_memory, "<n>",
		     "bytes of memory for each thread of delta search"),
		PACK_ARGS_OTHERS(&a->packing),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage_text);

	if (operands > 0)
		return options_usage(options, usage_text);
	return operands < 0 ? options_failed(operands) : 0;
}

static int incompatible(struct error *err, const char *one, const char *other)
{
	return error_set(err, ERR_INVALID,
			 "options '%s' and '%s' cannot be used together", one,
			 other);
}

static int check_args(const struct args *a, struct error *err)
{
	bool loosens = a->loosen || a->unpack_unreachable;

	if (loosens && a->keep_unreachable && a->cruft)
		return error_set(err, ERR_INVALID,
				 "options '-A', '-k/--keep-unreachable', and "
				 "'--cruft' cannot be used together");
	if (loosens && a->keep_unreachable)
		return incompatible(err, "-A", "-k/--keep-unreachable");
	if (loosens && a->cruft)
		return incompatible(err, "-A", "--cruft");
	if (a->keep_unreachable && a->cruft)
		return incompatible(err, "-k/--keep-unreachable", "--cruft");
	if (a->geometric && (a->all || a->loosen || a->cruft))
		return incompatible(err, "--geometric", "-A/-a");
	if (a->filter_to && filter_is_empty(&a->filter.filter))
		return error_set(err, ERR_INVALID,
				 "option '--filter-to' can only be used along "
				 "with '--filter'");
	if (a->geometric && !filter_is_empty(&a->filter.filter))
		return incompatible(err, "--geometric", "--filter");
	return 0;
}

/*
 * An option of pack-objects whose argument is a number. If the option is not
 * given, `text` is NULL.
 */
struct number {
	const char *name, *text;
};

/*
 * Parses the options given[0..nr), one after the other. Each has the name of an
 * option of pack-objects, such as "window", and the text of a number. The text
 * is parsed as pack-objects would parse it. Returns 0, or prints an error and
 * returns 129 or 128.
 */
static int parse_given(struct pack_args *packing, const struct number *given,
		       size_t nr)
{
	const struct option options[] = {PACK_ARGS_NUMBERS(packing), {0}};
	struct buf word = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < nr; i++) {
		const char *argv[] = {"repack", NULL, NULL};

		if (!given[i].text)
			continue;
		buf_reset(&word);
		if (buf_printf(&word, "--%s=%s", given[i].name, given[i].text) <
		    0) {
			buf_release(&word);
			return builtin_die("out of memory");
		}
		argv[1] = word.data;
		ret = options_parse(2, argv, options, usage_text);
	}
	buf_release(&word);
	return ret < 0 ? options_failed(ret) : 0;
}

/*
 * Parses the numeric options, in the order of stock Git. Returns 0, or prints
 * an error and returns 129 or 128.
 */
static int parse_numbers(struct args *a)
{
	const struct number given[] = {
		{"window", a->window},
		{"window-memory", a->window_memory},
		{"depth", a->depth},
		{"threads", a->threads},
	};
	int ret = parse_given(&a->packing, given, ARRAY_NR(given));

	/*
	 * As in stock Git, repack accepts version 0 as the default, although
	 * pack-objects refuses it.
	 */
	if (!ret && !a->packing.name_hash_version)
		a->packing.name_hash_version = -1;
	return ret;
}

/*
 * Parses repack.cruftWindow and similar variables into *packing. Stock Git
 * gives their texts to pack-objects as options, so a wrong value is reported as
 * a wrong option. Returns 0, or prints an error and returns 129 or 128.
 */
static int parse_cruft_numbers(struct pack_args *packing,
			       const struct config *config)
{
	const struct number given[] = {
		{"window", config_string(config, "repack.cruftwindow")},
		{"window-memory",
		 config_string(config, "repack.cruftwindowmemory")},
		{"depth", config_string(config, "repack.cruftdepth")},
		{"threads", config_string(config, "repack.cruftthreads")},
	};

	return parse_given(packing, given, ARRAY_NR(given));
}

/*
 * Decide whether to write a bitmap index. The command line decides first, then
 * the configuration. By default, a bitmap index is written if three conditions
 * are true: the repository is bare, all objects are repacked, and --write-midx
 * is not given.
 *
 * Without --write-midx, a bitmap index needs all objects in the new pack. So it
 * is an error to ask for a bitmap index if only some objects are repacked.
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
	o->write_bitmap = found ? wanted
				: repo->is_bare && o->all && !o->write_midx;
	if (o->write_bitmap && !o->all && !o->write_midx)
		return error_set(
			err, ERR_INVALID,
			"Incremental repacks are incompatible with "
			"bitmap indexes. Add --no-write-bitmap-index, or "
			"set repack.writeBitmaps to false");
	return 0;
}

static int load_date(int64_t *when, const char *text, struct error *err)
{
	*when = 0;
	if (text &&
	    approxidate_parse_expiry(when, text, sys_clock_seconds()) < 0)
		return error_set(err, ERR_INVALID,
				 "malformed expiration date '%s'", text);
	return 0;
}

static void choose_objects(struct repack_options *o, const struct args *a)
{
	bool loosens = a->loosen || (a->all && a->unpack_unreachable);

	o->all = a->all || a->loosen || a->cruft;
	o->combine_cruft_below = a->combine_cruft_below;
	o->expire_to = a->expire_to;
	o->unreachable = a->cruft              ? REPACK_CRUFT
			 : a->keep_unreachable ? REPACK_KEEP
			 : loosens             ? REPACK_LOOSEN
					       : REPACK_DROP;
}

/*
 * Load the options that stock Git's repack passes on to pack-objects. Called
 * after all other checks, because stock Git reports errors in these options
 * last. Returns 0 or a negative error code. If an error was printed already,
 * returns the exit code 129 or 128.
 */
static int load_pack_options(struct repack_options *o, const struct args *a,
			     const struct repo *repo, struct error *err)
{
	struct pack_args cruft = PACK_ARGS_INIT;
	int ret;

	ret = pack_args_check(&a->packing, err);
	if (ret < 0)
		return ret;
	pack_args_apply(&o->newpack, &a->packing);
	if (a->cruft) {
		ret = parse_cruft_numbers(&cruft, &repo->config);
		if (ret)
			return ret;
	}
	ret = load_date(&o->expiry,
			a->cruft ? a->cruft_expiration : a->unpack_unreachable,
			err);
	o->cruft = o->newpack;
	pack_args_apply(&o->cruft, &cruft);
	pack_args_apply(&o->cruft, &a->packing);
	if (a->cruft)
		pack_args_limit(&o->cruft, a->max_cruft_size);
	return ret;
}

static int load_bool(const struct repo *repo, const char *key, bool *value,
		     struct error *err)
{
	int found = config_bool(&repo->config, key, value, err);

	return found < 0 ? found : 0;
}

/*
 * Load a number from the configuration. A number below `least` is an error.
 * `name` is the name of stock Git's option, for the error message.
 */
static int load_number(uint64_t *value, const struct repo *repo,
		       const char *key, uint64_t least, const char *name,
		       struct error *err)
{
	if (config_u64(&repo->config, key, value, err) < 0)
		return ERR_INVALID;
	return *value < least ? error_set(err, ERR_INVALID,
					  "invalid value for --%s: %" PRIu64,
					  name, *value)
			      : 0;
}

static int load_layer_options(struct repack_options *o, const struct repo *repo,
			      struct error *err)
{
	int ret;

	o->midx_split_factor = LAYERED_SPLIT_FACTOR;
	o->midx_new_layer_threshold = LAYERED_NEW_LAYER_THRESHOLD;
	if (!o->midx_layers)
		return 0;
	ret = load_number(&o->midx_split_factor, repo, "repack.midxsplitfactor",
			  2, "midx-split-factor", err);
	return ret < 0 ? ret
		       : load_number(&o->midx_new_layer_threshold, repo,
				     "repack.midxnewlayerthreshold", 1,
				     "midx-new-layer-threshold", err);
}

static int load_options(struct repack_options *o, struct args *a,
			const struct repo *repo, struct error *err)
{
	int ret = newpack_options_load(&o->newpack, repo, err);

	o->remove_redundant = a->remove_redundant;
	o->local = a->local;
	/*
	 * A negative factor becomes a huge number here, and huge factors are
	 * refused later.
	 */
	o->geometric = (uint64_t)a->geometric;
	o->write_midx = a->write_midx.wanted;
	o->midx_layers = a->write_midx.layers;
	o->midx_must_contain_cruft = true;
	o->keep_packs = &a->keep_packs;
	o->filter = &a->filter.filter;
	o->filter_to = a->filter_to;
	o->newpack.replace = true;
	if (!ret)
		ret = load_bool(repo, "repack.usedeltaislands",
				&o->delta_islands, err);
	if (a->delta_islands >= 0)
		o->delta_islands = a->delta_islands;
	if (!ret)
		ret = load_bool(repo, "repack.usedeltabaseoffset",
				&o->newpack.ofs_delta, err);
	choose_objects(o, a);
	if (!ret)
		ret = load_bitmap_option(o, a, repo, err);
	/*
	 * If a bitmap index was requested, also pack the objects of kept packs:
	 * a pack with a bitmap index must have all reachable objects.
	 */
	o->pack_kept_objects = o->write_bitmap && !o->bitmap_is_default &&
			       !o->write_midx;
	if (!ret)
		ret = load_bool(repo, "repack.packkeptobjects",
				&o->pack_kept_objects, err);
	if (a->pack_kept_objects >= 0)
		o->pack_kept_objects = a->pack_kept_objects;
	if (!ret)
		ret = load_bool(repo, "repack.midxmustcontaincruft",
				&o->midx_must_contain_cruft, err);
	if (!ret)
		ret = load_layer_options(o, repo, err);
	o->update_server_info = true;
	if (!ret)
		ret = load_bool(repo, "repack.updateserverinfo",
				&o->update_server_info, err);
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

/*
 * Print that info/refs was not updated, with the words of stock Git. Returns 0
 * or a negative error code.
 */
static int report_info(const struct repo *repo, struct error *err)
{
	char *path = repo_common_path(repo, "info/refs");
	struct shown_path shown;
	const char *prefix;
	int ret = path ? shown_path_init(&shown, repo, err) : error_nomem(err);

	if (!ret) {
		builtin_error("unable to update %s: No such file or directory",
			      shown_path_get(&shown, path, &prefix));
		shown_path_release(&shown);
	}
	free(path);
	return ret;
}

static void warn(void *ctx, const char *message)
{
	(void)ctx;
	builtin_warn("%s", message);
}

/*
 * Run the command after its options were loaded. Returns 0, or a negative error
 * code with the error in *err. If the packs of the multi-pack-index lack an
 * object that its bitmap index needs, prints the error and returns the exit
 * code 255.
 */
static int repack(struct repack_options *o, struct args *a,
		  struct builtin_env *env, struct error *err)
{
	struct repack_result result;
	struct progress_out out;
	int ret;

	if (a->quiet)
		a->packing.progress = 0;
	o->newpack.make.progress = pack_args_progress(&out, &a->packing);
	o->newpack.make.write_progress = o->newpack.make.progress;
	o->cruft.make.progress = o->newpack.make.progress;
	o->cruft.make.write_progress = o->newpack.make.progress;
	ret = lazy_fetch_provider(&o->tip_provider, env, LAZY_FETCH_READ, err);
	if (ret < 0)
		return ret;
	o->warn = warn;
	ret = repack_run(&result, env->repo, o, err);
	if (result.warning.code)
		builtin_warn("%s", result.warning.msg);
	if (ret < 0 && result.midx_not_closed)
		return builtin_fail_midx_bitmap(err);
	if (ret < 0)
		return ret;
	if (result.info_refs_is_old)
		ret = report_info(env->repo, err);
	if (ret < 0)
		return ret;
	if (!result.is_new && !a->quiet)
		printf("Nothing new to pack.\n");
	else if (result.is_new && o->newpack.make.progress)
		print_total(&result);
	return 0;
}

/* Returns the exit code. */
static int run(struct args *a, struct builtin_env *env)
{
	struct repack_options options = {.all = false};
	struct error err = ERROR_INIT;
	int ret = check_args(a, &err);

	if (!ret)
		ret = load_options(&options, a, env->repo, &err);
	if (ret < 0)
		return builtin_fail(&err);
	ret = parse_numbers(a);
	if (ret)
		return ret;
	pack_args_warn_depth(&a->packing, &env->repo->config);
	pack_args_limit(&options.newpack, a->packing.max_pack_size);
	pack_args_check_islands(&a->packing, &options.newpack,
				options.delta_islands);
	ret = load_pack_options(&options, a, env->repo, &err);
	if (!ret)
		ret = repack(&options, a, env, &err);
	return ret < 0 ? builtin_fail(&err) : ret;
}

int cmd_repack(int argc, const char **argv, struct builtin_env *env)
{
	struct args a = {
		.packing = PACK_ARGS_INIT,
		.write_bitmap = -1,
		.pack_kept_objects = -1,
		.delta_islands = -1,
		.max_cruft_size = PACK_ARGS_UNSET,
	};
	int ret;

	filter_args_init(&a.filter);
	ret = parse(&a, argc, argv);
	if (!ret)
		ret = builtin_open_repo_to_change(env, "repack");
	if (!ret)
		ret = builtin_finish(run(&a, env));
	strlist_release(&a.keep_packs);
	filter_args_release(&a.filter);
	return ret;
}
