/* SPDX-License-Identifier: MIT */
/*
 * git network leave and delete: removes member repositories from a fork
 * network.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "builtin/network-parts.h"
#include "builtin/options.h"
#include "islands/network-delete.h"
#include "network/network-leave.h"

static const char leave_usage[] = "git network leave [-q] <member>...";
static const char delete_usage[] = "git network delete [-q] <member>...";

struct going {
	int (*fn)(struct network *network, uint32_t id, struct error *err);
	/*
	 * the message that is printed for each member when the subcommand has
	 * succeeded
	 */
	const char *done;
	const char *usage;
};

static int go(struct network *network, const struct going *going,
	      const char *name, bool quiet)
{
	struct error err = ERROR_INIT;
	const struct network_entry *entry = network_lookup(network, name, &err);
	uint32_t id;

	if (!entry)
		return builtin_fail(&err);
	id = entry->id;
	if (going->fn(network, id, &err) < 0)
		return builtin_fail(&err);
	if (!quiet)
		printf("member %" PRIu32 " %s\n", id, going->done);
	return 0;
}

static int run(const struct going *going, int argc, const char **argv,
	       struct builtin_env *env)
{
	bool quiet = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .flag = &quiet,
		 .help = "print nothing but errors"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, going->usage);
	struct network *network;
	int code;

	if (operands < 0)
		return 129;
	if (!operands)
		return options_usage(options, going->usage);
	code = network_place_open_to_change(&network, env);
	for (int i = 0; i < operands && !code; i++)
		code = go(network, going, argv[1 + i], quiet);
	network_close(network);
	return code;
}

int network_cmd_leave(int argc, const char **argv, struct builtin_env *env)
{
	const struct going going = {network_leave, "left", leave_usage};

	return run(&going, argc, argv, env);
}

int network_cmd_delete(int argc, const char **argv, struct builtin_env *env)
{
	const struct going going = {network_delete, "deleted", delete_usage};

	return run(&going, argc, argv, env);
}
