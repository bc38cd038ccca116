/* SPDX-License-Identifier: MIT */
/* git network init: a store. */
#include <stdio.h>
#include <stdlib.h>

#include "builtin/network-parts.h"
#include "builtin/options.h"
#include "sys/map.h"
#include "sys/io.h"

static const char usage[] =
	"git network init [--object-format=<format>] <store>";

int network_cmd_init(int argc, const char **argv, struct builtin_env *env)
{
	const char *format = NULL;
	bool quiet = false;
	const struct option options[] = {
		{.kind = OPTION_STRING,
		 .long_name = "object-format",
		 .value = &format,
		 .arg_name = "<format>",
		 .help = "the hash function of the network, sha1 or sha256"},
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .value = &quiet,
		 .help = "say nothing"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	enum hash_algo algo = HASH_SHA1;
	struct error err = ERROR_INIT;
	char *real;

	(void)env;
	if (operands < 0)
		return 129;
	if (operands != 1)
		return options_usage(options, usage);
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
