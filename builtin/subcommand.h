/* SPDX-License-Identifier: MIT */
/* Commands that are made of subcommands, each with arguments of its own. */
#ifndef BUILTIN_SUBCOMMAND_H
#define BUILTIN_SUBCOMMAND_H

#include "builtin/builtin.h"

struct subcommand {
	const char *name; /* NULL ends a table */
	int (*run)(int argc, const char **argv, struct builtin_env *env);
};

/*
 * Run the one that argv[1] names, with argv[1] as its argv[0]; returns its
 * exit code, after builtin_finish(). Where there is none of that name, say so
 * and print `usage` (see options.h); returns 129.
 */
int subcommand_run(const struct subcommand *table, const char *usage, int argc,
		   const char **argv, struct builtin_env *env);

/* "error: need a subcommand", or that there is none called `name`. */
void subcommand_complain(const char *name);

#endif
