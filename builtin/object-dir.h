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

struct object_dir_args {
	const char *object_dir; /* NULL: the repository's own */
	int progress;           /* 1, 0, or -1: not given */
};

#define OBJECT_DIR_ARGS_INIT                                                   \
	{                                                                      \
		NULL, -1                                                       \
	}

/* A callback of options without argument: 1, or 0 when negated. */
int object_dir_take_choice(void *value, const char *arg);

/* Entries of an option table. */
#define OBJECT_DIR_OPTIONS(a)                                                  \
	{.kind = OPTION_STRING,                                                \
	 .long_name = "object-dir",                                            \
	 .value = &(a)->object_dir,                                            \
	 .arg_name = "<directory>",                                            \
	 .help = "object directory, the repository's or an alternate's"},      \
	{                                                                      \
		.kind = OPTION_CALLBACK, .long_name = "progress",              \
		.value = &(a)->progress, .flags = OPTION_NO_ARG,               \
		.fn = object_dir_take_choice,                                  \
		.help = "force progress reporting"                             \
	}

/* The first word that is no option: the subcommand; or NULL. */
const char *object_dir_subcommand(int argc, const char **argv);

/* Meters as the options want them. */
const struct progress_out *object_dir_progress(struct progress_out *out,
					       const struct object_dir_args *a);

/*
 * Which of the odb's directories is meant. 0; or prints "fatal: ..." and
 * returns 128.
 */
int object_dir_choose(size_t *dir_nr, const struct store *store,
		      const struct object_dir_args *a);

#endif
