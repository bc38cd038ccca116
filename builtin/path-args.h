/* SPDX-License-Identifier: MIT */
/* Pathspecs of a command line: as they are from where we are. */
#ifndef BUILTIN_PATH_ARGS_H
#define BUILTIN_PATH_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "names/pathspec.h"
#include "repo/repo.h"

/*
 * Without "--" revisions come first, then paths, and nothing may be both: an
 * argument that is no revision has to be a pattern or a path that is there,
 * and one that is must not be (in a work tree). 0, or ERR_INVALID or
 * ERR_MISSING in Git's words; `is_first`: it might have been meant as a
 * revision.
 */
int path_args_check_path(const char *arg, bool is_first,
			 const struct repo *repo, struct error *err);
int path_args_check_rev(const char *arg, const struct repo *repo,
			struct error *err);

/* Advice for an argument that may be a revision or a path; no final newline. */
#define PATH_ARGS_ADVICE                                                       \
	"Write '--' between the revisions and the paths: "                     \
	"git <command> [<revision>...] -- [<path>...]"

/* As pathspec_parse(), with the environment's settings. */
int path_args_parse(struct pathspec *ps, const char *const *patterns, size_t nr,
		    const struct repo *repo, struct error *err);

struct place {
	char *cwd;          /* owned, absolute */
	const char *prefix; /* cwd below the work tree; "" at its top; NULL when
			       we are not in it */
	bool in_git_dir;
};

/* 0, or a negative error with *place empty. */
int place_find(struct place *place, const struct repo *repo, struct error *err);
void place_release(struct place *place);

/* What follows `dir` in `path` when that is `dir` or below; else NULL. */
const char *place_below(const char *path, const char *dir);

#endif
