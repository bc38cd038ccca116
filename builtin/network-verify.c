/* SPDX-License-Identifier: MIT */
/*
 * git network verify and stats: checks members, and prints the cost of clones.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "builtin/network-parts.h"
#include "builtin/options.h"
#include "network/network-verify.h"

static const char verify_usage[] = "git network verify";
static const char stats_usage[] = "git network stats [--json] [<member>...]";

static void wrong(void *ctx, uint32_t id, const char *what)
{
	int *code = ctx;

	if (id)
		builtin_error("member %" PRIu32 ": %s", id, what);
	else
		builtin_error("store: %s", what);
	*code = 1;
}

static int verify(struct network *network)
{
	struct newpack_options options;
	struct network_verify_report report;
	struct progress_out out;
	struct error err = ERROR_INIT;
	int code = 0;
	const struct network_verify how = {&options, wrong, &code};
	int ret = network_place_options(&options, &out, network, true, &err);

	if (!ret)
		ret = network_verify(&report, network, &how, &err);
	if (ret < 0)
		return builtin_fail(&err);
	printf("members=%" PRIu32 "\npending=%" PRIu32 "\nobjects=%" PRIu32
	       "\nunsynced-objects=%" PRIu32 "\ncrossing-deltas=%" PRIu32 "\n",
	       report.member_nr, report.pending_nr, report.object_nr,
	       report.unsynced_nr, report.crossing_nr);
	return code;
}

int network_cmd_verify(int argc, const char **argv, struct builtin_env *env)
{
	const struct option options[] = {{.kind = OPTION_END}};
	int operands = options_parse(argc, argv, options, verify_usage);
	struct network *network;
	int code;

	if (operands < 0)
		return 129;
	if (operands)
		return options_usage(options, verify_usage);
	code = network_place_open(&network, env);
	if (!code)
		code = verify(network);
	network_close(network);
	return code;
}

struct stats_out {
	bool json;
	/* number of members that were printed */
	size_t nr;
};

static void print_line(uint32_t id, const struct network_stats *stats)
{
	printf("member=%" PRIu32 " objects=%" PRIu32 " verbatim-bytes=%" PRIu64
	       " recompressed-objects=%" PRIu32 " bitmap=%s\n",
	       id, stats->object_nr, stats->verbatim_bytes,
	       stats->recompressed_nr, stats->used_bitmap ? "yes" : "no");
}

static void print_object(uint32_t id, const struct network_stats *stats,
			 bool first)
{
	printf("%s\n  {\"member\": %" PRIu32 ", \"objects\": %" PRIu32
	       ", \"verbatim-bytes\": %" PRIu64
	       ", \"recompressed-objects\": %" PRIu32 ", \"bitmap\": %s}",
	       first ? "" : ",", id, stats->object_nr, stats->verbatim_bytes,
	       stats->recompressed_nr, stats->used_bitmap ? "true" : "false");
}

static int print_stats(struct stats_out *out, const struct network *network,
		       const struct network_entry *entry)
{
	struct network_stats stats;
	struct error err = ERROR_INIT;

	if (entry->state != NETWORK_MEMBER)
		return 0;
	if (network_stats(&stats, network, entry, &err) < 0) {
		builtin_error("%s", err.msg);
		return 1;
	}
	if (out->json)
		print_object(entry->id, &stats, !out->nr);
	else
		print_line(entry->id, &stats);
	out->nr++;
	return 0;
}

/*
 * Print what a clone of each named member costs (bytes copied, objects
 * compressed again). If no member is named, print this for all members.
 */
static int print_each(struct stats_out *out, struct network *network,
		      const char **names, int nr)
{
	const struct network_registry *registry = &network->registry;
	struct error err = ERROR_INIT;
	int code = 0;

	for (size_t i = 0; !nr && i < registry->nr; i++)
		code |= print_stats(out, network, &registry->entries[i]);
	for (int i = 0; i < nr; i++) {
		const struct network_entry *entry = network_lookup(
			network, names[i], &err);

		if (!entry)
			return builtin_fail(&err);
		code |= print_stats(out, network, entry);
	}
	return code;
}

static int print_all(struct network *network, bool json, const char **names,
		     int nr)
{
	struct stats_out out = {json, 0};
	int code;

	if (json)
		printf("[");
	code = print_each(&out, network, names, nr);
	if (json)
		printf("%s]\n", out.nr ? "\n" : "");
	return code;
}

int network_cmd_stats(int argc, const char **argv, struct builtin_env *env)
{
	bool json = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "json",
		 .flag = &json,
		 .help = "print a JSON array of objects"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, stats_usage);
	struct network *network;
	int code;

	if (operands < 0)
		return 129;
	code = network_place_open(&network, env);
	if (!code)
		code = print_all(network, json, argv + 1, operands);
	network_close(network);
	return code;
}
