/* SPDX-License-Identifier: MIT */
/*
 * Pathspecs: patterns that choose paths (gitglossary(7), "pathspec").
 *
 *	Makefile  t/         the file, all in the directory
 *	*.c  Doc?/x.txt      "*" and "?" match slashes too
 *	:(glob)t/t?.sh       here they do not, and "**" does
 *	:(icase)readme       letters of either case
 *	:(literal)a*b        no wildcards
 *	:/t  :(top)t         from the top, wherever we are
 *	:!t  :^t  :(exclude)t    but not these
 *
 * A path is taken when some pattern that does not exclude matches it, and none
 * that does. A pattern also matches what it is to the letter, wildcards
 * included, and then, as a directory, all that is in it.
 *
 * Paths are from the top of the tree, without a slash at either end; "" is the
 * top. Immutable once parsed; threads may share one. Of magic, attr is not
 * known.
 */
#ifndef NAMES_PATHSPEC_H
#define NAMES_PATHSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct pathspec_item {
	char *match;        /* owned: from the top, with the slash that it may
			       end in */
	size_t len;         /* of match */
	size_t name_len;    /* without that slash */
	size_t literal_len; /* bytes before the first wildcard; len: none */
	size_t prefix_len;  /* of them, the directory we are in, which icase
			       does not apply to */
	bool is_glob;       /* "*" stops at slashes */
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

/* What paths are seen from, and the environment's opinion. Borrowed. */
struct pathspec_place {
	const char *prefix; /* where we are below the top; NULL or "": there */
	const char *worktree; /* absolute, of absolute paths; NULL: none */
	const char *name;     /* of the repository, for messages */
	bool literal, glob, noglob, icase; /* for all patterns */
};

/*
 * Set the last four from GIT_LITERAL_PATHSPECS, GIT_GLOB_PATHSPECS,
 * GIT_NOGLOB_PATHSPECS and GIT_ICASE_PATHSPECS. 0, or ERR_INVALID where they
 * contradict each other.
 */
int pathspec_place_env(struct pathspec_place *place, struct error *err);

/*
 * Parse patterns. None at all take nothing; excluding ones alone take the rest.
 * 0; ERR_INVALID in Git's words, ERR_UNSUPPORTED for magic that is not known
 * here, ERR_NOMEM, with *ps empty.
 */
int pathspec_parse(struct pathspec *ps, const char *const *patterns, size_t nr,
		   const struct pathspec_place *place, struct error *err);
void pathspec_release(struct pathspec *ps);

/*
 * Whether a path is taken that is no directory: NUL-terminated, `len` > 0.
 * `is_gitlink`: a submodule, which a pattern with a slash at its end matches.
 */
bool pathspec_takes(const struct pathspec *ps, const char *path, size_t len,
		    bool is_gitlink);

enum pathspec_below {
	PATHSPEC_NOTHING, /* nothing in the directory is taken */
	PATHSPEC_PART,    /* something may be: look */
	PATHSPEC_ALL,     /* everything is */
};

/* What is taken of a directory; NUL-terminated. "" is the top. */
enum pathspec_below pathspec_below(const struct pathspec *ps, const char *dir,
				   size_t len);

/*
 * Whether `git rev-list --objects` lists a directory and looks into it. It does
 * so for fewer than pathspec_below() says, since wildcards have to match a
 * directory themselves, and for those that are excluded whole.
 */
bool pathspec_lists(const struct pathspec *ps, const char *dir, size_t len);

#endif
