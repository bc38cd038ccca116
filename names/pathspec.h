/* SPDX-License-Identifier: MIT */
/*
 * Pathspecs: patterns that choose paths (gitglossary(7), "pathspec").
 *
 * 	Makefile  t/         a file, all in a directory
 * 	*.c  Doc?/x.txt      "*" and "?" match slashes too
 * 	:(glob)t/t?.sh       "*" and "?" match no slashes, "**" does
 * 	:(icase)readme       letters of either case
 * 	:(literal)a*b        no wildcards
 * 	:/t  :(top)t         from the top, not from the current directory
 * 	:!t  :^t  :(exclude)t    exclude these
 *
 * A path is chosen if a pattern matches it and no excluding pattern matches it.
 * A pattern with wildcards also matches literally. If a pattern equals a
 * directory, it matches all its contents.
 *
 * Paths are from the top of the tree, without a slash at either end; "" is the
 * top. A pathspec is immutable after parsing, and threads may share it. The
 * magic "attr" is not supported.
 */
#ifndef NAMES_PATHSPEC_H
#define NAMES_PATHSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct pathspec_item {
	/*
	 * owned: the path or pattern, relative to the top of the work tree; may
	 * have a slash at the end
	 */
	char *match;
	size_t len; /* of match */
	/* length of `match` without the slash at the end */
	size_t name_len;
	/*
	 * number of bytes of `match` before the first wildcard; equal to `len`
	 * if there are no wildcards
	 */
	size_t literal_len;
	/*
	 * number of bytes of `match` that come from the current directory;
	 * icase does not apply to these bytes
	 */
	size_t prefix_len;
	/* true: "*" does not match slashes */
	bool is_glob;
	bool is_icase;
	bool is_exclude;
};

struct pathspec {
	struct pathspec_item *items; /* owned */
	size_t nr;
	bool has_wildcards, has_icase, has_excludes;
};

#define PATHSPEC_INIT                                                          \
	{                                                                      \
		NULL, 0, false, false, false                                   \
	}

/*
 * Where the user is in the work tree, and which magic the environment sets for
 * all patterns. Pointers are borrowed.
 */
struct pathspec_place {
	/* path of the current directory below the top; NULL or "": the top */
	const char *prefix;
	/*
	 * absolute path of the work tree, needed to resolve absolute patterns;
	 * NULL: there is no work tree
	 */
	const char *worktree;
	/* name of the repository, used in messages */
	const char *name;
	bool literal, glob, noglob, icase; /* apply to all patterns */
};

/*
 * Sets `literal`, `glob`, `noglob` and `icase` from GIT_LITERAL_PATHSPECS,
 * GIT_GLOB_PATHSPECS, GIT_NOGLOB_PATHSPECS and GIT_ICASE_PATHSPECS. Returns 0,
 * or ERR_INVALID if they contradict each other.
 */
int pathspec_place_env(struct pathspec_place *place, struct error *err);

/*
 * Parses patterns. If all patterns are excluding ones, the pathspec chooses all
 * other paths. If there are no patterns (`nr` is 0), the pathspec chooses no
 * path. In commands of Git, no pathspec means all paths: a caller must handle
 * this case itself. Returns 0 or an error code: ERR_INVALID with Git's message,
 * ERR_UNSUPPORTED for magic that is not supported here, or ERR_NOMEM. After an
 * error, *ps is empty.
 */
int pathspec_parse(struct pathspec *ps, const char *const *patterns, size_t nr,
		   const struct pathspec_place *place, struct error *err);
void pathspec_release(struct pathspec *ps);

/*
 * Returns whether a pathspec chooses the file or submodule `path`, which is
 * NUL-terminated; `len` > 0. `is_gitlink`: the path is a submodule. A pattern
 * with a slash at the end matches directories and submodules, but no files.
 */
bool pathspec_takes(const struct pathspec *ps, const char *path, size_t len,
		    bool is_gitlink);

enum pathspec_below {
	/* the pathspec chooses no path in the directory */
	PATHSPEC_NOTHING,
	/*
	 * the pathspec may choose some paths in the directory, so the directory
	 * must be read
	 */
	PATHSPEC_PART,
	PATHSPEC_ALL, /* everything is chosen */
};

/*
 * Returns whether a pathspec chooses no path, some paths or all paths in a
 * directory. `dir` is NUL-terminated; "" is the top.
 */
enum pathspec_below pathspec_below(const struct pathspec *ps, const char *dir,
				   size_t len);

/*
 * Returns whether `git rev-list --objects` lists a directory and reads its
 * entries. Two rules of stock Git apply:
 * - A pattern with wildcards counts only if it matches the directory itself. So
 *   for "*.c" and a directory "t" the result is false, although
 *   pathspec_below() returns PATHSPEC_PART.
 * - If an excluding pattern names a directory, the result is true for this
 *   directory, and false for all directories below it.
 */
bool pathspec_lists(const struct pathspec *ps, const char *dir, size_t len);

#endif
