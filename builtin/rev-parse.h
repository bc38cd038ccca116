/* SPDX-License-Identifier: MIT */
/*
 * The parts of git rev-parse:
 *
 *   rev-parse.c        the arguments, one by one
 *   rev-parse-rev.c    ranges, and suffixes that stand for several revisions
 *   rev-parse-refs.c   options that stand for many refs or objects
 *   rev-parse-place.c  options about the repository's places
 *   rev-parse-show.c   printing
 */
#ifndef BUILTIN_REV_PARSE_H
#define BUILTIN_REV_PARSE_H

#include "builtin/store.h"

/* What is printed of the arguments; all, when no option says otherwise. */
enum {
	REV_PARSE_REVS = 1 << 0,
	REV_PARSE_NO_REVS = 1 << 1,
	REV_PARSE_FLAGS = 1 << 2,
	REV_PARSE_NO_FLAGS = 1 << 3,
};

/* How a revision is printed. */
enum rev_parse_form {
	REV_PARSE_OID,      /* by its id, in `abbrev` digits */
	REV_PARSE_SYMBOLIC, /* as it was given */
	REV_PARSE_FULL,     /* by the full name of the ref; else not at all */
	REV_PARSE_STRICT,   /* by a short name of the ref, unambiguous */
	REV_PARSE_LOOSE,    /*   ... or resolving to it */
};

struct rev_parse {
	struct store store;
	unsigned filter; /* of the above */
	enum rev_parse_form form;
	size_t abbrev;
	bool not ;  /* after an odd number of --not */
	bool quote; /* --sq */
	bool verify, quiet;
	const char *dflt;      /* --default, until something was printed */
	const char **excluded; /* owned array of --exclude patterns */
	size_t excluded_nr, excluded_alloc;
	const char *path_format; /* --path-format, or NULL */
};

/* ---- rev-parse-show.c */

/* Print one word in quotes for the shell. */
void rev_parse_show_quoted(const char *text);

/* Print one word on a line of its own, or quoted for the shell. */
void rev_parse_show(const struct rev_parse *rp, const char *text);

/*
 * Print a revision, if revisions are wanted; `negate`: with a "^". `name` may
 * be NULL.
 */
void rev_parse_show_rev(struct rev_parse *rp, bool negate,
			const struct oid *oid, const char *name);

/* ---- rev-parse-rev.c */

/*
 * "<from>..<to>", "<from>...<to>"; a side that is left out is HEAD. Returns 1,
 * 0 when the argument is not of that form or names nothing, or after printing a
 * message its exit code negated.
 */
int rev_parse_range(struct rev_parse *rp, const char *arg);

/* "<rev>^@", "<rev>^!", "<rev>^-<n>". As above. */
int rev_parse_shorthand(struct rev_parse *rp, const char *arg);

/* ---- rev-parse-refs.c */

/*
 * Options that print many refs: --all, --branches, --tags, --remotes, --glob,
 * --exclude, --disambiguate. Returns 1 when `arg` was one, 0 when not, or
 * after printing a message its exit code negated.
 */
int rev_parse_refs(struct rev_parse *rp, const char *arg);

/* ---- rev-parse-place.c */

/*
 * Options about the repository's places and properties. `next` is the
 * argument after, or NULL; *used is set when it was taken. Returns as
 * rev_parse_refs().
 */
int rev_parse_place(struct rev_parse *rp, const char *arg, const char *next,
		    bool *used);

#endif
