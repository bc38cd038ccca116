/* SPDX-License-Identifier: MIT */
/*
 * git network repack: repacks the store (the object pool) of a fork network
 * with delta islands.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/approxidate.h"
#include "builtin/network-parts.h"
#include "builtin/options.h"
#include "builtin/pack-args.h"
#include "network/network-repack.h"
#include "sys/clock.h"

static const char usage[] = "git network repack [<options>]";

static const char default_date[] = "2.weeks.ago";

static void warn(void *ctx, const struct error *what)
{
	int *code = ctx;

	builtin_warn("%s", what->msg);
	*code = 1;
}

static void note(void *ctx, const char *message)
{
	(void)ctx;
	builtin_warn("%s", message);
}

/* The arguments of git network repack. */
struct args {
	/* how the packs of the store are made */
	struct pack_args packing;
	const char *date; /* of --prune; NULL: the option is not given */
	bool keep_members, quiet;
};

static int parse(struct args *a, int argc, const char **argv)
{
	const struct option options[] = {
		{.kind = OPTION_STRING,
		 .long_name = "prune",
		 .string = &a->date,
		 .flags = OPTION_OPTIONAL_ARG,
		 .dflt = default_date,
		 .arg_name = "<date>",
		 .help = "delete unreachable objects older than this"},
		OPTION_ROW_FLAG(0, "keep-members", &a->keep_members,
				"do not remove from members the objects that "
				"the store has"),
		OPTION_ROW_FLAG('f', NULL, &a->packing.no_reuse_delta,
				"compute all deltas of the store again"),
		OPTION_ROW_FLAG('F', NULL, &a->packing.no_reuse_object,
				"compute all deltas and compress all objects "
				"of the store again"),
		OPTION_ROW_FLAG('q', "quiet", &a->quiet,
				"print nothing but errors"),
		PACK_ARGS_NUMBERS(&a->packing),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);

	if (operands > 0)
		return options_usage(options, usage);
	return operands < 0 ? options_failed(operands) : 0;
}

static int load(struct network_repack *how, struct progress_out *out,
		const struct args *a, const struct network *network,
		struct error *err)
{
	int ret = network_place_options(&how->newpack, out, network, a->quiet,
					err);

	if (ret < 0)
		return ret;
	how->store = how->newpack;
	pack_args_apply(&how->store, &a->packing);
	how->keep = a->keep_members;
	if (a->date && approxidate_parse_expiry(&how->expiry, a->date,
						sys_clock_seconds()) < 0)
		return error_set(err, ERR_INVALID,
				 "malformed expiration date '%s'", a->date);
	/* The expiry 0 stands for "never": nothing is pruned. */
	how->prune = how->expiry != 0;
	return 0;
}

static int run(struct network *network, struct network_repack *how,
	       const struct args *a, struct error *err)
{
	struct network_repack_report report;
	struct progress_out out;
	int ret = load(how, &out, a, network, err);

	if (!ret)
		ret = network_repack(&report, network, how, err);
	if (ret < 0)
		return ret;
	if (report.store.warning.code)
		builtin_warn("%s", report.store.warning.msg);
	if (!a->quiet)
		printf("%" PRIu32 " members, %" PRIu32 " objects, %" PRIu32
		       " bitmaps, %" PRIu32
		       " objects that no member reaches, %" PRIu32
		       " packs removed from members\n",
		       report.member_nr, report.store.object_nr,
		       report.store.bitmap_nr, report.store.cruft_nr,
		       report.pack_nr);
	return 0;
}

int network_cmd_repack(int argc, const char **argv, struct builtin_env *env)
{
	int code, warned = 0;
	struct network_repack how = {
		.warn = warn,
		.note = note,
		.ctx = &warned,
	};
	struct args args = {.packing = PACK_ARGS_INIT};
	struct error err = ERROR_INIT;
	struct network *network;

	code = parse(&args, argc, argv);
	if (code)
		return code;
	code = network_place_open_to_change(&network, env);
	if (!code)
		pack_args_warn_depth(&args.packing, &network->store->config);
	if (!code && run(network, &how, &args, &err) < 0)
		code = builtin_fail(&err);
	network_close(network);
	return code ? code : warned;
}
