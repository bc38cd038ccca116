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
 * Check an argument of a command line without "--": revisions, followed by
 * paths. An argument that may be a revision and also a path is refused as
 * ambiguous.
 *
 * path_args_check_path() checks a path. It accepts a pathspec with wildcards or
 * magic, and a path that exists. `is_first` says that no earlier argument is a
 * path. In this case, the user may have meant a revision, so the message for a
 * missing path says "unknown revision or path".
 *
 * path_args_check_rev() checks a revision. It refuses the argument if the work
 * tree has a path of this name.
 *
 * Both functions return 0 if the argument is accepted. If it is refused, they
 * return ERR_INVALID or ERR_MISSING, with a message for the user. Otherwise
 * they return another negative error code.
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

/*
 * Parse pathspecs by pathspec_parse(), with the settings of the environment.
 * Returns 0 or a negative error code.
 */
int path_args_parse(struct pathspec *ps, const char *const *patterns, size_t nr,
		    const struct repo *repo, struct error *err);

/*
 * Where the working directory of this process is: in the work tree of a
 * repository, in its git directory, or in neither.
 */
struct place {
	char *cwd; /* owned; absolute */
	/*
	 * path of the working directory relative to the top of the work tree;
	 * "" at the top; NULL outside of the work tree
	 */
	const char *prefix;
	/*
	 * true: the working directory is in the git directory. If `prefix` is
	 * set, the top of the work tree counts in place of the working
	 * directory.
	 */
	bool in_git_dir;
	/*
	 * false: the repository has no work tree, or it was found from a
	 * directory in the git directory
	 */
	bool has_worktree;
};

/*
 * Find out where the working directory of this process is: at which path of the
 * repository's work tree, in the git directory, or outside of both. Returns 0
 * or a negative error code. After an error, *place is empty.
 */
int place_find(struct place *place, const struct repo *repo, struct error *err);
void place_release(struct place *place);

/*
 * Reword the error of revname_resolve() for a name <rev>:<path>. If <rev> does
 * not have the path, and a file of this name exists on disk, the message says
 * so, as in stock Git. Other messages and the error code are not changed.
 */
void path_args_look_on_disk(const char *name, const struct repo *repo,
			    struct error *err);

/*
 * Returns the part of `path` after the directory `dir` ("" if they are equal).
 * Returns NULL if `path` is neither `dir` nor below it.
 */
const char *place_below(const char *path, const char *dir);

#endif
