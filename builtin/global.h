/* SPDX-License-Identifier: MIT */
/*
 * The options before a command's name: `git -C <dir> -c <key>=<value> ...`.
 *
 * They are applied to this process by changing its directory and environment,
 * in the same variables that stock Git uses, so that a command of ours, a
 * stock command that we exec, and their children see the same.
 */
#ifndef BUILTIN_GLOBAL_H
#define BUILTIN_GLOBAL_H

#include <stdbool.h>

enum global_end {
	GLOBAL_COMMAND,   /* argv[next] is a command's name */
	GLOBAL_STOCK,     /* argv[next...] is for the stock Git to answer:
			     no command, --help, or what we do not know */
	GLOBAL_VERSION,   /* --version: argv[next...] are its arguments */
	GLOBAL_EXEC_PATH, /* --exec-path: print it */
	GLOBAL_FAILED,    /* exit with `code`; the reason was printed */
};

struct global {
	enum global_end end;
	int next; /* in argv */
	int code;
	bool paginate; /* -p was given; has no variable */
	bool bare;     /* --bare was given; its variables do not say so */
};

/* Apply the options at argv[1..]; argv is NULL-terminated. */
void global_apply(struct global *g, int argc, const char *const *argv);

#endif
