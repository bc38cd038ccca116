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
	GLOBAL_COMMAND, /* argv[next] is a command's name */
	/*
	 * run stock Git with argv[next...]: no command, --help, or an option
	 * that we do not know
	 */
	GLOBAL_STOCK,
	GLOBAL_VERSION,   /* --version; argv[next...] are its arguments */
	GLOBAL_EXEC_PATH, /* --exec-path: print the path */
	GLOBAL_FAILED,    /* exit with `code`; the error was printed */
};

struct global {
	enum global_end end;
	int next; /* index into argv */
	int code;
	bool paginate; /* -p was given; no variable holds it */
	bool bare;     /* --bare was given; no variable holds it */
};

/* Whether the option is one of ours that needs a value. */
bool global_takes_value(const char *option);

/* Apply the options from argv[1] on; argv ends with NULL. */
void global_apply(struct global *g, int argc, const char *const *argv);

#endif
