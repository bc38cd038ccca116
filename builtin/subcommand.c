/* SPDX-License-Identifier: MIT */
/* Which subcommand is meant. */
#include <string.h>

#include "builtin/options.h"
#include "builtin/subcommand.h"

void subcommand_complain(const char *name)
{
	if (name)
		builtin_error("unknown subcommand: `%s'", name);
	else
		builtin_error("need a subcommand");
}

int subcommand_run(const struct subcommand *table, const char *usage, int argc,
		   const char **argv, struct builtin_env *env)
{
	const struct option options[] = {{.kind = OPTION_END}};
	const char *name = argc > 1 ? argv[1] : NULL;

	for (; name && table->name; table++)
		if (!strcmp(name, table->name))
			return builtin_finish(
				table->run(argc - 1, argv + 1, env));
	if (!name || *name != '-')
		subcommand_complain(name);
	if (options_parse(argc, argv, options, usage) < 0)
		return 129;
	return options_usage(options, usage);
}
