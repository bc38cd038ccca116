/* SPDX-License-Identifier: MIT */
/* Pathspecs of a command line, relative to the working directory. */
#ifndef BUILTIN_PATH_ARGS_H
#define BUILTIN_PATH_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "names/pathspec.h"
#include "repo/repo.h"

/*
 * Check an argument of a command line without "--". On such a command line,
 * revisions come first, then paths, and no argument may be both.
 *
 * path_args_check_path() accepts a pattern or an existing path. `is_first`:
 * this is the first argument that is no revision, so the message says that it
 * may be an unknown revision. path_args_check_rev() accepts an argument unless,
 * in a work tree, a path of this name exists.
 *
 * Both functions return 0 if the argument is accepted, ERR_INVALID or
 * ERR_MISSING with a message for the user if it is refused, or another negative
 * error code.
 */
int path_args_check_path(const char *arg, bool is_first,
			 const struct repo *repo, struct error *err);
int path_args_check_rev(const char *arg, const struct repo *repo,
			struct error *err);

/*
 * Advice for an argument that may be a revision or a path. It has no final
 * newline.
 */
#define PATH_ARGS_ADVICE                                                       \
	"Write '--' between the revisions and the paths: "                     \
	"git <command> [<revision>...] -- [<path>...]"

/* Parse pathspecs by pathspec_parse(), with the settings of the environment. */
int path_args_parse(struct pathspec *ps, const char *const *patterns, size_t nr,
		    const struct repo *repo, struct error *err);

/* The working directory in relation to a repository. */
struct place {
	char *cwd; /* owned; absolute */
	/*
	 * path of the working directory relative to the top of the work tree;
	 * "" at the top; NULL outside of the work tree
	 */
	const char *prefix;
	bool in_git_dir;
};

/*
 * Find the working directory, relative to a repository. Returns 0 or a negative
 * error code. After an error, *place is empty.
 */
int place_find(struct place *place, const struct repo *repo, struct error *err);
void place_release(struct place *place);

/*
 * Reword the error of revname_resolve() for a name <rev>:<path>. If <rev> does
 * not have the path, and a file of this name exists on disk, the message says
 * so, as in stock Git. Other messages stay, and the error code never changes.
 */
void path_args_look_on_disk(const char *name, const struct repo *repo,
			    struct error *err);

/*
 * Returns the part of `path` after `dir`, or NULL if `path` is not `dir` or
 * below it.
 */
const char *place_below(const char *path, const char *dir);

#endif
