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
#include "network/network-repack.h"
#include "sys/clock.h"

static const char usage[] =
	"git network repack [-q] [--prune[=<date>]] [--keep-members]";

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

static int run(struct network *network, struct network_repack *options,
	       const char *date, bool quiet, struct error *err)
{
	struct network_repack_report report;
	struct progress_out out;
	int ret = network_place_options(&options->newpack, &out, network, quiet,
					err);

	options->prune = date != NULL;
	if (!ret && date &&
	    approxidate_parse_expiry(&options->expiry, date,
				     sys_clock_seconds()) < 0)
		ret = error_set(err, ERR_INVALID,
				"malformed expiration date '%s'", date);
	/* The expiry 0 stands for "never": nothing is pruned. */
	if (!options->expiry)
		options->prune = false;
	if (!ret)
		ret = network_repack(&report, network, options, err);
	if (ret < 0)
		return ret;
	if (report.store.warning.code)
		builtin_warn("%s", report.store.warning.msg);
	if (!quiet)
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
	int code = 0, warned = 0;
	struct network_repack how = {
		.warn = warn,
		.note = note,
		.ctx = &warned,
	};
	const char *date = NULL;
	bool quiet = false;
	const struct option options[] = {
		{.kind = OPTION_STRING,
		 .long_name = "prune",
		 .string = &date,
		 .flags = OPTION_OPTIONAL_ARG,
		 .dflt = default_date,
		 .arg_name = "<date>",
		 .help = "delete unreachable objects older than this"},
		{.kind = OPTION_FLAG,
		 .long_name = "keep-members",
		 .flag = &how.keep,
		 .help = "do not remove from members the objects that the "
			 "store has"},
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .flag = &quiet,
		 .help = "print nothing but errors"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	struct error err = ERROR_INIT;
	struct network *network;

	if (operands < 0)
		return 129;
	if (operands)
		return options_usage(options, usage);
	code = network_place_open_to_change(&network, env);
	if (!code && run(network, &how, date, quiet, &err) < 0)
		code = builtin_fail(&err);
	network_close(network);
	return code ? code : warned;
}
