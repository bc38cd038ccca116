/* SPDX-License-Identifier: MIT */
/* Pathspecs of a command line: as they are from where we are. */
#ifndef BUILTIN_PATH_ARGS_H
#define BUILTIN_PATH_ARGS_H

#include <stddef.h>

#include "base/error.h"
#include "repo/pathspec.h"
#include "repo/repo.h"

/* As pathspec_parse(), with the environment's settings. */
int path_args_parse(struct pathspec *ps, const char *const *patterns, size_t nr,
		    const struct repo *repo, struct error *err);

#endif
