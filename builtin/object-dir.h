/* SPDX-License-Identifier: MIT */
/*
 * Commands with subcommands that work on one object directory: multi-pack-index
 * and commit-graph. What all their subcommands have in common.
 */
#ifndef BUILTIN_OBJECT_DIR_H
#define BUILTIN_OBJECT_DIR_H

#include <stddef.h>

#include "builtin/options.h"
#include "builtin/stderr-progress.h"
#include "builtin/store.h"

/* One run of such a command. The commands embed it as their first member. */
struct object_dir_call {
	struct builtin_env *env; /* borrowed */
	const char *object_dir;  /* option; NULL: the repository's own */
	int want_progress;       /* option: 1, 0, or -1: not given */
	struct store store;
	size_t dir_nr; /* of object_dir among the odb's directories */
	struct progress_out out;
	const struct progress_out *progress; /* NULL: none */
};

#define OBJECT_DIR_CALL_INIT(environment)                                      \
	{                                                                      \
		.env = (environment), .want_progress = -1                      \
	}

typedef int object_dir_fn(struct object_dir_call *call);

struct object_dir_command {
	const char *name; /* NULL ends a table */
	/* Of this command; at the end of the table: what all of them have. */
	const struct option *options;
	object_dir_fn *run; /* returns an exit code */
	int operand_nr;     /* after the name: from argv[2] on */
};

/* A callback of options without argument: 1, or 0 when negated. */
int object_dir_take_choice(void *value, const char *arg);

/* Entries of an option table. */
#define OBJECT_DIR_OPTIONS(call)                                               \
	{.kind = OPTION_STRING,                                                \
	 .long_name = "object-dir",                                            \
	 .value = &(call)->object_dir,                                         \
	 .arg_name = "<directory>",                                            \
	 .help = "object directory, the repository's or an alternate's"},      \
	{                                                                      \
		.kind = OPTION_CALLBACK, .long_name = "progress",              \
		.value = &(call)->want_progress, .flags = OPTION_NO_ARG,       \
		.fn = object_dir_take_choice,                                  \
		.help = "force progress reporting"                             \
	}

/*
 * Find the subcommand and parse its options, which may stand before its name.
 * NULL after printing what is wrong and how it is used: the exit code is 129.
 */
object_dir_fn *object_dir_parse(const struct object_dir_command *table,
				const char *usage, int argc, const char **argv);

/* Open the repository and the directory, run, close. The exit code. */
int object_dir_run(struct object_dir_call *call, object_dir_fn *run);

/*
 * Open the repository anew, with what is there now; a directory that has ceased
 * to be one of its own is none. 0, or an exit code after printing.
 */
int object_dir_reopen(struct object_dir_call *call);

/* A line for people; `ctx` is not used. */
void object_dir_print_line(void *ctx, const char *line);

#endif
