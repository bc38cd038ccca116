/* SPDX-License-Identifier: MIT */
/*
 * The parts of git rev-parse:
 *
 *   rev-parse.c        the arguments, one by one
 *   rev-parse-rev.c    ranges, and suffixes that mean several revisions
 *   rev-parse-refs.c   options that mean many refs or objects
 *   rev-parse-place.c  options about the repository's paths
 *   rev-parse-show.c   printing
 */
#ifndef BUILTIN_REV_PARSE_H
#define BUILTIN_REV_PARSE_H

#include "builtin/store.h"

/*
 * Kinds of arguments, for options that print only some kinds. By default all
 * kinds are printed.
 */
enum {
	REV_PARSE_REVS = 1 << 0,
	REV_PARSE_NO_REVS = 1 << 1,
	REV_PARSE_FLAGS = 1 << 2,
	REV_PARSE_NO_FLAGS = 1 << 3,
};

/* The form in which a revision is printed. */
enum rev_parse_form {
	/* the id, abbreviated to `abbrev` digits */
	REV_PARSE_OID,
	REV_PARSE_SYMBOLIC, /* as given */
	/*
	 * the full name of the ref; nothing is printed if the revision is no
	 * ref
	 */
	REV_PARSE_FULL,
};

/*
 * Values of --abbrev-ref. If the option is given, enum rev_parse_form has no
 * effect.
 */
enum rev_parse_short {
	REV_PARSE_LONG,
	/* an unambiguous short name of the ref */
	REV_PARSE_STRICT,
	/* a short name that resolves to the ref */
	REV_PARSE_LOOSE,
};

struct rev_parse {
	struct store store;
	/*
	 * which kinds of arguments are printed: an OR of REV_PARSE_REVS and the
	 * bits after it
	 */
	unsigned filter;
	enum rev_parse_form form;
	enum rev_parse_short short_form;
	size_t abbrev;
	/*
	 * true: an odd number of --not was given so far, so revisions are
	 * negated
	 */
	bool not ;
	bool quote; /* --sq */
	bool verify, quiet;
	/* value of --default; NULL after something was printed */
	const char *dflt;
	/* owned array of --exclude patterns */
	const char **excluded;
	size_t excluded_nr, excluded_alloc;
	/* value of --path-format; NULL: not given */
	const char *path_format;
};

/* ---- rev-parse-show.c */

/* Print one word in quotes for the shell. */
void rev_parse_show_quoted(const char *text);

/* Print one word on a line of its own, or in quotes with --sq. */
void rev_parse_show(const struct rev_parse *rp, const char *text);

/*
 * Print a revision, unless options exclude revisions. `negate`: print "^"
 * before it. `name` may be NULL.
 */
void rev_parse_show_rev(struct rev_parse *rp, bool negate,
			const struct oid *oid, const char *name);

/*
 * Print a broken ref. Without --symbolic-full-name and --abbrev-ref, print the
 * ref like a revision whose id is zero. The first `trim` bytes of the name are
 * left out.
 *
 * With --symbolic-full-name or --abbrev-ref, there are two cases. If the value
 * of the ref is an id of zeros, print the full name of the ref. Otherwise print
 * only a warning.
 */
void rev_parse_show_broken(struct rev_parse *rp, const char *name, size_t trim);

/* ---- rev-parse-rev.c */

/*
 * Called if `name` does not resolve; *err is the reason. Returns whether the
 * command must fail at once: resolving the name needs an object that is
 * damaged, or that is missing and cannot be fetched. If the result is false,
 * the name is unknown, and may be a file.
 */
bool rev_parse_is_fatal(const struct rev_parse *rp, const char *name,
			const struct error *err);

/*
 * Parse and print "<from>..<to>" or "<from>...<to>". A missing side means HEAD.
 * Returns 1 if the range was printed, or 0 if the argument does not have this
 * form or does not resolve. On errors, prints a message and returns the negated
 * exit code.
 */
int rev_parse_range(struct rev_parse *rp, const char *arg);

/*
 * Parse and print "<rev>^@", "<rev>^!" or "<rev>^-<n>". Returns 1 if the
 * revisions were printed, or 0 if the argument does not have this form or does
 * not resolve. On errors, prints a message and returns the negated exit code.
 */
int rev_parse_shorthand(struct rev_parse *rp, const char *arg);

/* ---- rev-parse-refs.c */

/*
 * Handle options that print many refs: --all, --branches, --tags, --remotes,
 * --glob, --exclude, --disambiguate. Returns 1 if `arg` is one of them,
 * otherwise 0. On errors, prints a message and returns the negated exit code.
 */
int rev_parse_refs(struct rev_parse *rp, const char *arg);

/* ---- rev-parse-place.c */

/*
 * Handle options about the paths and properties of the repository. `next` is
 * the next argument, or NULL. *used is set to true if the value of the option
 * is `next`. Returns 1 if `arg` is such an option, otherwise 0. On errors,
 * prints a message and returns the negated exit code.
 */
int rev_parse_place(struct rev_parse *rp, const char *arg, const char *next,
		    bool *used);

#endif
