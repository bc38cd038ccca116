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
static const char stats_usage[] =
	"git network stats [--json] [--total | <member>...]";

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
	/* print nothing for each member, only the sums */
	bool total;
	/* number of members that were printed or added up */
	size_t nr;
	/* sums: bytes of clones of the members, and bytes of their own packs */
	uint64_t clone_bytes, own_bytes;
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
	if (out->json && !out->total)
		print_object(entry->id, &stats, !out->nr);
	else if (!out->total)
		print_line(entry->id, &stats);
	out->nr++;
	out->clone_bytes += stats.verbatim_bytes;
	out->own_bytes += stats.own_pack_bytes;
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

static int print_all(struct stats_out *out, struct network *network,
		     const char **names, int nr)
{
	int code;

	if (out->json)
		printf("[");
	code = print_each(out, network, names, nr);
	if (out->json)
		printf("%s]\n", out->nr ? "\n" : "");
	return code;
}

/*
 * Print the bytes of the packs that all members would have as separate
 * repositories, and those that the network has. Nothing is printed if a member
 * cannot be read.
 */
static int print_total(struct stats_out *out, struct network *network)
{
	struct error err = ERROR_INIT;
	uint64_t stored;
	int code = print_each(out, network, NULL, 0);

	if (code)
		return code;
	if (network_stats_store(&stored, network, &err) < 0)
		return builtin_fail(&err);
	stored += out->own_bytes;
	printf(out->json ? "{\"members\": %zu, \"clone-bytes\": %" PRIu64
			   ", \"stored-bytes\": %" PRIu64
			   ", \"saved-bytes\": %" PRId64 "}\n"
			 : "members=%zu clone-bytes=%" PRIu64
			   " stored-bytes=%" PRIu64 " saved-bytes=%" PRId64
			   "\n",
	       out->nr, out->clone_bytes, stored,
	       (int64_t)out->clone_bytes - (int64_t)stored);
	return 0;
}

int network_cmd_stats(int argc, const char **argv, struct builtin_env *env)
{
	struct stats_out out = {.json = false};
	const struct option options[] = {
		OPTION_ROW_FLAG(0, "json", &out.json, "print JSON"),
		OPTION_ROW_FLAG(0, "total", &out.total,
				"print what the network saves"),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, stats_usage);
	struct network *network;
	int code;

	if (operands < 0)
		return 129;
	if (out.total && operands)
		return options_usage(options, stats_usage);
	code = network_place_open(&network, env);
	if (!code)
		code = out.total ? print_total(&out, network)
				 : print_all(&out, network, argv + 1, operands);
	network_close(network);
	return code;
}
