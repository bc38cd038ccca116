/* SPDX-License-Identifier: MIT */
/*
 * The parts of `git for-each-ref`: ref-filter.c selects refs, ref-format.c
 * expands format strings, and ref-sort.c sorts refs.
 */
#ifndef BUILTIN_FOR_EACH_REF_H
#define BUILTIN_FOR_EACH_REF_H

#include "builtin/ref-atom.h"
#include "ewah/bitset.h"
#include "walk/reach.h"
#include "walk/walk.h"

/* ---- ref-filter.c */

/*
 * Selecting refs by name, by the object that they point to, and by history
 * (git-for-each-ref(1)).
 *
 * Each commit gets a number, commit_nr, when it is first seen. Results about a
 * commit are stored under this number. So queries about many refs walk each
 * part of the history only once.
 */

/* The arguments of an option that may be given several times. */
struct ref_filter_list {
	/* owned array of borrowed strings */
	const char **items;
	size_t nr, alloc;
};

struct ref_filter_commits {
	uint32_t *commit_nrs; /* owned */
	size_t nr, alloc;
};

struct ref_filter {
	/* true: glob patterns ignore the difference of upper and lower case */
	bool ignore_case;
	/*
	 * Patterns of names, borrowed and NULL-terminated. A name must match
	 * one of them; an empty list matches all names.
	 */
	const char **patterns;
	/* Patterns of names. A name that matches one of them is excluded. */
	struct ref_filter_list exclude;

	const struct store *store; /* borrowed; NULL: not open */
	/* owned: the ids of the objects that --points-at names */
	struct oid *targets;
	size_t target_nr, target_alloc;
	bool walk_is_open;
	struct walk walk;
	/*
	 * owned: the commits that --merged and --no-merged name, each as a
	 * commit_nr
	 */
	struct ref_filter_commits merged, no_merged;
	/*
	 * Indexed by commit_nr: the ancestors of the commits in `merged`, and
	 * of those in `no_merged`.
	 */
	struct bitset in_merged, in_no_merged;
	/* the commits that --contains and --no-contains name */
	struct reach containing, not_containing;
};

/* The options whose arguments are commits. */
enum ref_filter_relation {
	REF_FILTER_MERGED,
	REF_FILTER_NO_MERGED,
	REF_FILTER_CONTAINS,
	REF_FILTER_NO_CONTAINS,
};

void ref_filter_init(struct ref_filter *f);
void ref_filter_release(struct ref_filter *f);

/*
 * Append an argument to the list. If the argument is option_negated (the option
 * was given as --no-<name>), empty the list instead. Returns 0 or ERR_NOMEM.
 */
int ref_filter_add(struct ref_filter_list *list, const char *arg);

/*
 * Set the store in which names are resolved. `store` must outlive the filter.
 * Must be called once, before the functions below.
 */
void ref_filter_open(struct ref_filter *f, const struct store *store);

/*
 * Resolve `name`, the argument of --points-at, and add the object to
 * f->targets. Returns 0, BUILTIN_NOT_OURS if only stock Git can resolve the
 * name, or prints an error and returns the exit code.
 */
int ref_filter_point_at(struct ref_filter *f, const char *name);

/* Empty f->targets, because --no-points-at was given. */
void ref_filter_point_at_all(struct ref_filter *f);

/*
 * Add the commit `name` to the commits of the option `relation`. If `name` is
 * NULL, add HEAD. Returns 0. Returns BUILTIN_NOT_OURS if only stock Git can
 * resolve the name, or if the repository has grafts, which only stock Git
 * reads. Otherwise prints an error and returns the exit code.
 */
int ref_filter_relate(struct ref_filter *f, enum ref_filter_relation relation,
		      const char *name);

/*
 * If the repository has info/grafts, stock Git must run, because only stock Git
 * follows grafts. Returns 0 if there are no grafts. Returns BUILTIN_NOT_OURS if
 * there are grafts and stock Git is installed. Otherwise prints an error and
 * returns 128.
 */
int ref_filter_refuse_grafts(const struct store *store);

/*
 * Walk the history of the commits of --merged and --no-merged. Must be called
 * after all commits were added. Returns 0, or prints an error and returns 128.
 */
int ref_filter_walk(struct ref_filter *f);

/* Returns whether the name of a ref passes the patterns of the filter. */
bool ref_filter_takes_name(const struct ref_filter *f, const char *name);

/*
 * Find whether a ref's object passes the filter. Filters by history pass only
 * commits, and tags of commits. Returns 1 if the object passes, 0 if it does
 * not, or a negative error code.
 */
int ref_filter_takes(struct ref_filter *f, struct ref_atom_subject *subject,
		     struct error *err);

/* ---- ref-format.c */

/*
 * A --format string: text, fields in %(...), %%, and %xx for a byte in
 * hexadecimal (git-for-each-ref(1)).
 */

/* How values are quoted, so that a program can read the output. */
enum ref_format_quote {
	REF_FORMAT_PLAIN,
	REF_FORMAT_SHELL,
	REF_FORMAT_PERL,
	REF_FORMAT_PYTHON,
	REF_FORMAT_TCL,
};

struct ref_format_piece {
	/* owned: literal text; NULL: this piece of the format is a field */
	char *text;
	size_t len;
	struct ref_atom atom; /* a field */
};

struct ref_format {
	struct ref_format_piece *pieces; /* owned */
	size_t nr, alloc;
};

#define REF_FORMAT_INIT                                                        \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/*
 * Parse a format string. Returns 0, ERR_INVALID with the message of stock Git,
 * or ERR_UNSUPPORTED if a field of the format exists only in stock Git. The
 * caller must release *format in all cases.
 */
int ref_format_parse(struct ref_format *format, const char *text,
		     struct error *err);
void ref_format_release(struct ref_format *format);

/*
 * Append the expansion of the format for a ref, without a newline. Returns 0 or
 * a negative error code.
 */
int ref_format_append(struct buf *out, const struct ref_format *format,
		      enum ref_format_quote quote,
		      struct ref_atom_subject *subject, struct error *err);

/* ---- ref-sort.c */

/* Sorting refs by fields, as git-for-each-ref(1) --sort does. */

struct ref_sort_key {
	struct ref_atom atom;
	bool reverse;
};

struct ref_sort {
	/*
	 * owned; in the order of the command line; refs are compared by the
	 * last key first
	 */
	struct ref_sort_key *keys;
	size_t nr, alloc;
	bool ignore_case;
	/*
	 * Owned array of borrowed strings: the values of versionsort.suffix in
	 * the configuration.
	 */
	const char **suffixes;
	size_t suffix_nr, suffix_alloc;
};

#define REF_SORT_INIT                                                          \
	{                                                                      \
		NULL, 0, 0, false, NULL, 0, 0                                  \
	}

/*
 * Add a key "[-][version:|v:]<field>". Returns 0, ERR_INVALID with the message
 * of stock Git, or ERR_UNSUPPORTED if only stock Git has the field.
 */
int ref_sort_add(struct ref_sort *sort, const char *key, struct error *err);
void ref_sort_release(struct ref_sort *sort);

/*
 * Load versionsort.suffix if a key compares versions. Must be called after the
 * last key was added. `config` must outlive *sort. Returns 0 or a negative
 * error code.
 */
int ref_sort_configure(struct ref_sort *sort, const struct config *config,
		       struct error *err);

/* Returns whether refs are to be sorted by name only, byte by byte. */
bool ref_sort_is_by_name(const struct ref_sort *sort);

/* A ref that will be sorted. */
struct ref_sort_item {
	char *name;   /* owned */
	char *target; /* owned, or NULL */
	struct oid oid;
	/*
	 * Owned: values[i] is the value of the ref for key i. If key i compares
	 * numbers, values[i] is NULL, and the value is numbers[i].
	 */
	char **values;
	uint64_t *numbers; /* owned */
};

/*
 * Make a sort item: copy a ref, and compute the values of all sort keys.
 * Returns 0 or a negative error code. The caller must release *item in both
 * cases.
 */
int ref_sort_item_init(struct ref_sort_item *item, const struct ref_sort *sort,
		       const struct ref *ref, struct ref_atom_subject *subject,
		       struct error *err);
void ref_sort_item_release(struct ref_sort_item *item,
			   const struct ref_sort *sort);

void ref_sort_items(struct ref_sort_item *items, size_t nr,
		    const struct ref_sort *sort);

#endif
