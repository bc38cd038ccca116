/* SPDX-License-Identifier: MIT */
/*
 * The options before a command's name: `git -C <dir> -c <key>=<value> ...`.
 *
 * They change the directory and the environment of this process. The variables
 * are those of stock Git. Our commands, stock Git and their children therefore
 * see the same settings.
 */
#ifndef BUILTIN_GLOBAL_H
#define BUILTIN_GLOBAL_H

#include <stdbool.h>

enum global_end {
	/* argv[next] is a command's name */
	GLOBAL_COMMAND,
	/*
	 * run stock Git with argv[next...]: no command, --help, or an option
	 * that we do not know
	 */
	GLOBAL_STOCK,
	/* --version; argv[next...] are its arguments */
	GLOBAL_VERSION,
	/* --exec-path: print the path */
	GLOBAL_EXEC_PATH,
	/* exit with `code`; the error was printed */
	GLOBAL_FAILED,
};

struct global {
	enum global_end end;
	int next; /* index into argv */
	int code;
	/* -p was given; no variable holds it */
	bool paginate;
	/* --bare was given; no variable holds it */
	bool bare;
};

/* Whether the option is one of ours that needs a value. */
bool global_takes_value(const char *option);

/* Apply the options from argv[1] on; argv ends with NULL. */
void global_apply(struct global *g, int argc, const char *const *argv);

#endif
