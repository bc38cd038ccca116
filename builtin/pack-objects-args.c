/* SPDX-License-Identifier: MIT */
/*
 * git pack-objects: parses the options, and checks which of them can be
 * combined.
 */
#include <stdlib.h>
#include <string.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/options.h"
#include "builtin/pack-objects.h"
#include "sys/clock.h"

static const char usage_text[] = "git pack-objects --stdout [<options>] [< "
				 "<ref-list> | < <object-list>]\n"
				 "git pack-objects [<options>] <base-name> [< "
				 "<ref-list> | < <object-list>]";

#define FLAG(name, field, text) OPTION_ROW_FLAG(0, name, &a->field, text)
#define FLAG_ONLY(name, field, text)                                           \
	{                                                                      \
		.kind = OPTION_FLAG, .long_name = name, .flag = &a->field,     \
		.flags = OPTION_NO_NEGATE, .help = text                        \
	}
/*
 * A row of the table of options for --no-<x>. In stock Git, --no-<x> is the
 * negation of the option --<x>.
 */
#define FLAG_OFF(name, field, text)                                            \
	{                                                                      \
		.kind = OPTION_FLAG, .long_name = name, .flag = &a->field,     \
		.flags = OPTION_ONE_NO, .help = text                           \
	}
#define NUMBER(name, field, text)                                              \
	{                                                                      \
		.kind = OPTION_INT, .long_name = name, .integer = &a->field,   \
		.help = text                                                   \
	}
#define CALL(letter, name, call, ctx, how, arg, text)                          \
	{                                                                      \
		.kind = OPTION_CALLBACK, .short_name = letter,                 \
		.long_name = name, .value = ctx, .flags = how, .fn = call,     \
		.arg_name = arg, .help = text                                  \
	}
#define TEXT(name, field, how, without, text, arg)                             \
	{                                                                      \
		.kind = OPTION_STRING, .long_name = name, .string = &a->field, \
		.flags = how, .dflt = without, .help = text, .arg_name = arg   \
	}

/*
 * Callback for --stdin-packs=<mode>. Only keeps the name of an unknown mode.
 * The command fails later, so that its exit code is 128 as in stock Git.
 */
static int take_stdin_packs(void *value, const char *arg)
{
	struct pack_objects_args *a = value;

	a->stdin_packs = arg != option_negated;
	a->follow = arg && a->stdin_packs;
	if (a->follow && !*arg)
		a->follow = false;
	if (!a->follow || !strcmp(arg, "follow"))
		return 0;
	a->bad_stdin_packs = arg;
	return 0;
}

static int take_index_version(void *value, const char *arg)
{
	struct pack_objects_args *a = value;
	struct error err = ERROR_INIT;

	if (!pack_args_index_version(&a->idx_format, arg, &err))
		return 0;
	builtin_die("%s", err.msg);
	return OPTION_DIED;
}

/*
 * Callbacks for --quiet and --all-progress. If several of --quiet, --progress
 * and --all-progress are given, the last one applies.
 */
static int take_quiet(void *value, const char *arg)
{
	int *progress = value;

	if (arg != option_negated)
		*progress = 0;
	else if (*progress <= 0)
		*progress = 1;
	return 0;
}

static int take_all_progress(void *value, const char *arg)
{
	*(int *)value = arg == option_negated ? 0 : 2;
	return 0;
}

static int take_missing(void *value, const char *arg)
{
	static const char *const names[] = {
		[PACK_MISSING_ERROR] = "error",
		[PACK_MISSING_ANY] = "allow-any",
		[PACK_MISSING_PROMISED] = "allow-promisor",
	};
	struct pack_objects_args *a = value;

	for (unsigned i = 0; i < ARRAY_NR(names); i++)
		if (!strcmp(arg, names[i])) {
			a->missing = i;
			return 0;
		}
	builtin_die("invalid value for '%s': '%s'", "--missing", arg);
	return OPTION_DIED;
}

int pack_objects_args_parse(struct pack_objects_args *a, int argc,
			    const char **argv)
{
	const struct option options[] = {
		CALL('q', "quiet", take_quiet, &a->packing.progress,
		     OPTION_NO_ARG, NULL, "show no progress"),
		CALL(0, "all-progress", take_all_progress, &a->packing.progress,
		     OPTION_NO_ARG, NULL,
		     "show progress, also while the pack is written"),
		FLAG("all-progress-implied", all_progress_implied,
		     "same as --all-progress if progress is shown"),
		FLAG("stdout", to_stdout, "write the pack to stdout"),
		FLAG("revs", revs, "read revisions from stdin"),
		FLAG_ONLY("all", all, "include what all refs reach"),
		FLAG_ONLY("reflog", reflog,
			  "include what the entries of reflogs reach"),
		FLAG_ONLY("indexed-objects", indexed_objects,
			  "include the objects that index files name"),
		FLAG("thin", thin,
		     "allow deltas whose bases only the receiver has"),
		FLAG("include-tag", include_tag,
		     "include tags whose target is in the pack"),
		FLAG("honor-pack-keep", honor_keep,
		     "leave out objects of packs with .keep"),
		OPTION_ROW_CALLBACK(0, "keep-pack", pack_args_take_pack,
				    &a->keep_packs, "<name>",
				    "leave out objects of this pack"),
		OPTION_ROW_OPTIONAL(0, "stdin-packs", take_stdin_packs, a, 0,
				    "<mode>", "read names of packs from stdin"),
		FLAG("cruft", cruft,
		     "write a cruft pack of unreachable objects"),
		TEXT("cruft-expiration", cruft_expiration, OPTION_OPTIONAL_ARG,
		     NULL, "with --cruft, leave out older objects", "<date>"),
		FLAG("keep-unreachable", keep_unreachable,
		     "also pack unreachable objects of packs"),
		FLAG("pack-loose-unreachable", pack_loose_unreachable,
		     "also pack unreachable loose objects"),
		TEXT("unpack-unreachable", unpack_unreachable,
		     OPTION_OPTIONAL_ARG, "never",
		     "write unreachable objects newer than this as loose "
		     "objects",
		     "<date>"),
		FLAG("exclude-promisor-objects", exclude_promisor,
		     "leave out objects of promisor packs"),
		{.kind = OPTION_NOT_OURS,
		 .long_name = "exclude-promisor-objects-best-effort"},
		FLAG("local", local, "leave out objects of alternates"),
		FLAG("incremental", incremental,
		     "leave out objects that are in a pack"),
		FLAG_ONLY("unpacked", unpacked,
			  "leave out objects that are in a pack"),
		FLAG("non-empty", non_empty,
		     "write no pack that would be empty"),
		FLAG("delta-base-offset", ofs_delta,
		     "name the bases of deltas by offset"),
		FLAG_OFF("no-reuse-delta", packing.no_reuse_delta,
			 "compute all deltas again"),
		FLAG_OFF("no-reuse-object", packing.no_reuse_object,
			 "compress all objects again"),
		FLAG("delta-islands", delta_islands,
		     "write no delta that leaves its delta island"),
		FLAG("write-bitmap-index", write_bitmap,
		     "write a bitmap index"),
		FLAG("write-bitmap-index-quiet", write_bitmap_quiet, NULL),
		FLAG_ONLY("use-bitmap-index", use_bitmap,
			  "find objects by bitmaps"),
		FLAG_ONLY("no-use-bitmap-index", no_use_bitmap,
			  "find objects by walking"),
		OPTION_ROW_CALLBACK(
			0, "filter", filter_args_option, &a->filter,
			"<filter-spec>",
			"leave out the objects that the filter excludes"),
		FLAG("keep-true-parents", keep_true_parents, NULL),
		FLAG("sparse", sparse, NULL),
		FLAG("shallow", shallow, "the receiver is shallow"),
		CALL(0, "missing", take_missing, a, OPTION_NO_NEGATE,
		     "<action>", "what to do if an object is missing"),
		PACK_ARGS_OPTIONS(&a->packing),
		CALL(0, "index-version", take_index_version, a,
		     OPTION_NO_NEGATE, "<n>[,<offset>]",
		     "version of the .idx file: 1 or 2"),
		NUMBER("compression", compression, "compression level of zlib"),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage_text);

	if (operands < 0)
		return options_failed(operands);
	if (operands != (a->to_stdout ? 0 : 1))
		return options_usage(options, usage_text);
	a->base = a->to_stdout ? NULL : argv[1];
	return 0;
}

bool pack_objects_has_revs(const struct pack_objects_args *a)
{
	return a->revs || a->all || a->reflog || a->indexed_objects ||
	       a->thin || (a->unpacked && !a->stdin_packs) ||
	       a->exclude_promisor || pack_objects_wants_rest(a);
}

bool pack_objects_is_for_receiver(const struct pack_objects_args *a)
{
	return a->to_stdout && a->revs && !a->reflog && !a->indexed_objects &&
	       !a->honor_keep && !a->keep_packs.nr && !a->local &&
	       !a->incremental && !a->unpacked && !a->exclude_promisor &&
	       a->missing == PACK_MISSING_ERROR && !a->delta_islands &&
	       !a->non_empty && !pack_objects_wants_rest(a);
}

bool pack_objects_wants_rest(const struct pack_objects_args *a)
{
	return a->keep_unreachable || a->pack_loose_unreachable ||
	       a->unpack_unreachable;
}

static int incompatible(struct error *err, const char *one, const char *other)
{
	return error_set(err, ERR_INVALID,
			 "options '%s' and '%s' cannot be used together", one,
			 other);
}

int pack_objects_args_check_values(const struct pack_objects_args *a,
				   const struct config *config,
				   struct error *err)
{
	if (a->bad_stdin_packs)
		return error_set(err, ERR_INVALID,
				 "invalid value for 'stdin-packs': '%s'",
				 a->bad_stdin_packs);
	pack_args_warn_depth(&a->packing, config);
	if (a->compression != INT64_MIN &&
	    (a->compression < -1 || a->compression > 9))
		return error_set(err, ERR_INVALID,
				 "bad pack compression level %lld",
				 (long long)a->compression);
	if (a->to_stdout && a->packing.max_pack_size &&
	    a->packing.max_pack_size != PACK_ARGS_UNSET)
		return error_set(err, ERR_INVALID,
				 "--max-pack-size cannot be used to build a "
				 "pack for transfer");
	return 0;
}

static int load_expiry(struct pack_objects_args *a, struct error *err)
{
	const char *date = a->cruft ? a->cruft_expiration
				    : a->unpack_unreachable;

	a->expiry = 0;
	if (date &&
	    approxidate_parse_expiry(&a->expiry, date, sys_clock_seconds()) < 0)
		return error_set(err, ERR_INVALID,
				 "malformed expiration date '%s'", date);
	/*
	 * Objects may be removed as unreachable only if all refs, reflogs and
	 * index files were walked.
	 */
	if (!a->cruft && !(a->all && a->reflog && a->indexed_objects))
		a->expiry = 0;
	return 0;
}

/*
 * Check that the objects to pack come from one source: revisions, --stdin-packs
 * or --cruft.
 */
static int check_source(struct pack_objects_args *a, struct error *err)
{
	const char *by_packs = a->stdin_packs ? "--stdin-packs" : "--cruft";

	a->cruft |= a->cruft_expiration != NULL;
	if (a->stdin_packs && a->cruft)
		return incompatible(err, "--stdin-packs", "--cruft");
	if (a->keep_unreachable && a->unpack_unreachable)
		return incompatible(err, "--keep-unreachable",
				    "--unpack-unreachable");
	a->revs = pack_objects_has_revs(a);
	/*
	 * Without --stdin-packs and --cruft, --filter is always accepted. As in
	 * stock Git, the filter is ignored if standard input is a list of
	 * objects, not of revisions.
	 */
	if (!a->stdin_packs && !a->cruft)
		return 0;
	if (a->revs)
		return error_set(err, ERR_INVALID,
				 "cannot use internal rev list with %s",
				 by_packs);
	if (a->filter.filter.nr && a->stdin_packs)
		return incompatible(err, by_packs, "--filter");
	return 0;
}

int pack_objects_args_check(struct pack_objects_args *a, struct error *err)
{
	int ret;

	if (a->thin && !a->to_stdout)
		return error_set(err, ERR_INVALID,
				 "--thin cannot be used to build an indexable "
				 "pack");
	ret = check_source(a, err);
	return ret ? ret : load_expiry(a, err);
}

void pack_objects_args_init(struct pack_objects_args *a)
{
	*a = (struct pack_objects_args){
		.packing = PACK_ARGS_INIT,
		.compression = INT64_MIN,
	};
	filter_args_init(&a->filter);
}

void pack_objects_args_release(struct pack_objects_args *a)
{
	filter_args_release(&a->filter);
	strlist_release(&a->keep_packs);
}
