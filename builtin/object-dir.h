/* SPDX-License-Identifier: MIT */
/*
 * Common code of git multi-pack-index and git commit-graph, whose subcommands
 * work on one object directory.
 */
#ifndef BUILTIN_OBJECT_DIR_H
#define BUILTIN_OBJECT_DIR_H

#include <stddef.h>

#include "builtin/options.h"
#include "builtin/output.h"
#include "builtin/store.h"

/*
 * One run of git multi-pack-index or git commit-graph: the part of the state
 * that both commands have. Each command has a struct of its own, whose first
 * member is a struct object_dir_call.
 */
struct object_dir_call {
	struct builtin_env *env; /* borrowed */
	/*
	 * value of --object-dir; NULL: use the object directory of the
	 * repository itself
	 */
	const char *object_dir;
	/*
	 * true: object_dir may be any directory; false: it must be the
	 * repository's own directory or an alternate
	 */
	bool takes_any_dir;
	/* 1 for --progress, 0 for --no-progress, -1 if neither is given */
	int want_progress;
	struct store store;
	/* index of object_dir in the list of the odb's directories */
	size_t dir_nr;
	struct progress_out out;
	/* NULL: no progress is shown */
	const struct progress_out *progress;
};

#define OBJECT_DIR_CALL_INIT(environment)                                      \
	{                                                                      \
		.env = (environment), .want_progress = -1                      \
	}

typedef int object_dir_fn(struct object_dir_call *call);

struct object_dir_command {
	const char *name; /* NULL ends a table */
	/*
	 * Options of this subcommand. In the last entry of the table of
	 * subcommands: options that may stand before the name of any
	 * subcommand.
	 */
	const struct option *options;
	object_dir_fn *run; /* returns the exit code */
	/* number of operands, from argv[2] on */
	int operand_nr;
};

/*
 * Callback for an option without an argument. Sets the int at `value` to 1, or
 * to 0 if the option is negated. Returns 0.
 */
int object_dir_take_choice(void *value, const char *arg);

/* The entry for --object-dir in a table of options. */
#define OBJECT_DIR_OPTION(call)                                                \
	{                                                                      \
		.kind = OPTION_STRING, .long_name = "object-dir",              \
		.string = &(call)->object_dir, .arg_name = "<directory>",      \
		.help = "object directory; default: the repository's"          \
	}

/*
 * Rows for a table of options: --object-dir and --progress, which
 * multi-pack-index and commit-graph have.
 */
#define OBJECT_DIR_OPTIONS(call)                                               \
	OBJECT_DIR_OPTION(call),                                               \
	{                                                                      \
		.kind = OPTION_CALLBACK, .long_name = "progress",              \
		.value = &(call)->want_progress, .flags = OPTION_NO_ARG,       \
		.fn = object_dir_take_choice,                                  \
		.help = "force progress reporting"                             \
	}

/*
 * Find the subcommand, and parse the options before and after its name. Returns
 * NULL after printing an error and the usage; the exit code is then
 * 129.
 */
object_dir_fn *object_dir_parse(const struct object_dir_command *table,
				const char *usage, int argc, const char **argv);

/*
 * Open the repository and the directory, call `run`, and close them. Returns
 * the exit code.
 */
int object_dir_run(struct object_dir_call *call, object_dir_fn *run);

/*
 * Open the repository again to see its present packs. It is an error if the
 * object directory no longer belongs to the repository, except if takes_any_dir
 * is set. Returns 0, or prints an error and returns the exit code.
 */
int object_dir_reopen(struct object_dir_call *call);

/* Print a line on standard error; `ctx` is not used. */
void object_dir_print_line(void *ctx, const char *line);

#endif
