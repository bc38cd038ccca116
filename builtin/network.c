/* SPDX-License-Identifier: MIT */
/*
 * git network: manages fork networks, whose member repositories share a store
 * of objects. All subcommands except init have files of their own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "builtin/network-parts.h"
#include "builtin/options.h"
#include "sys/io.h"
#include "sys/map.h"

static const char usage_text[] =
	"git network init [--object-format=<format>] <store>\n"
	"git network add [-q] <repository>...\n"
	"git network fork [-q] <source> <destination>\n"
	"git network sync [-q] (--all | <member>...)\n"
	"git network repack [<options>]\n"
	"git network list [--json]\n"
	"git network leave [-q] <member>...\n"
	"git network delete [-q] <member>...\n"
	"git network verify\n"
	"git network borrowers [--json] <directory>...\n"
	"git network stats [--json] [--total | <member>...]";

/* ---- git network init: creates the store of a fork network */

static const char init_usage[] =
	"git network init [--object-format=<format>] <store>";

static int init(int argc, const char **argv, struct builtin_env *env)
{
	const char *format = NULL;
	bool quiet = false;
	const struct option options[] = {
		{.kind = OPTION_STRING,
		 .long_name = "object-format",
		 .string = &format,
		 .arg_name = "<format>",
		 .help = "hash function of the network: sha1 or sha256"},
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .flag = &quiet,
		 .help = "print nothing but errors"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, init_usage);
	enum hash_algo algo = HASH_SHA1;
	struct error err = ERROR_INIT;
	char *real;

	(void)env;
	if (operands < 0)
		return 129;
	if (operands != 1)
		return options_usage(options, init_usage);
	if (format && !hash_by_name(&algo, format))
		return builtin_die("unknown hash algorithm '%s'", format);
	if (network_init(argv[1], algo, &err) < 0)
		return builtin_fail(&err);
	real = sys_realpath(argv[1], NULL);
	if (!quiet)
		printf("Initialized empty network in %s/\n",
		       real ? real : argv[1]);
	free(real);
	return 0;
}

/* ---- the command */

/*
 * Returns the name of an environment variable that is set and would apply to
 * all repositories of the network. Returns NULL if there is none.
 */
static const char *forbidden_variable(void)
{
	static const char *const names[] = {
		"GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_COMMON_DIR",
	};

	for (size_t i = 0; i < ARRAY_NR(names); i++)
		if (getenv(names[i]))
			return names[i];
	return NULL;
}

int cmd_network(int argc, const char **argv, struct builtin_env *env)
{
	static const struct subcommand subcommands[] = {
		{"add", network_cmd_add},
		{"borrowers", network_cmd_borrowers},
		{"delete", network_cmd_delete},
		{"fork", network_cmd_fork},
		{"init", init},
		{"leave", network_cmd_leave},
		{"list", network_cmd_list},
		{"repack", network_cmd_repack},
		{"stats", network_cmd_stats},
		{"sync", network_cmd_sync},
		{"verify", network_cmd_verify},
		{NULL, NULL},
	};

	if (forbidden_variable())
		return builtin_die("%s must not be set for git network",
				   forbidden_variable());
	return subcommand_run(subcommands, usage_text, argc, argv, env);
}
