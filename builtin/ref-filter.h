/* SPDX-License-Identifier: MIT */
/*
 * Selecting refs by name, by the object that they point to, and by history
 * (git-for-each-ref(1)).
 *
 * Commits get numbers when they are first seen, and results about a commit are
 * kept. Queries about many refs together walk the history between them once.
 */
#ifndef BUILTIN_REF_FILTER_H
#define BUILTIN_REF_FILTER_H

#include "builtin/ref-atom.h"
#include "ewah/bitset.h"
#include "walk/reach.h"
#include "walk/walk.h"

/* The arguments of an option that may be repeated. */
struct ref_filter_list {
	/* owned array of borrowed strings */
	const char **items;
	size_t nr, alloc;
};

struct ref_filter {
	bool ignore_case; /* applies to glob patterns */
	/* borrowed, NULL-terminated: one of these must match */
	const char **patterns;
	/* patterns: none of these may match */
	struct ref_filter_list exclude;
	struct ref_filter_list points_at, merged, no_merged, contains,
		no_contains; /* names of commits */

	const struct store *store; /* borrowed */
	/* owned: the ids of points_at */
	struct oid *targets;
	bool walk_is_open;
	struct walk walk;
	/*
	 * By commit_nr: the ancestors of the commits of merged and of
	 * no_merged.
	 */
	struct bitset in_merged, in_no_merged;
	struct reach containing, not_containing;
};

void ref_filter_init(struct ref_filter *f);
void ref_filter_release(struct ref_filter *f);

/*
 * Append an argument; option_negated empties the list. Returns 0 or ERR_NOMEM.
 */
int ref_filter_add(struct ref_filter_list *list, const char *arg);

/*
 * Look up the named objects. `store` must outlive the filter. Returns 0;
 * BUILTIN_NOT_OURS if only stock Git resolves a name; or prints an error and
 * returns the exit code.
 */
int ref_filter_open(struct ref_filter *f, const struct store *store);

/* Whether the name passes the filter. */
bool ref_filter_takes_name(const struct ref_filter *f, const char *name);

/*
 * Whether the object passes the filter. Filters by history match only commits,
 * and tags of commits. Returns 1, 0 or a negative error code.
 */
int ref_filter_takes(struct ref_filter *f, struct ref_atom_subject *subject,
		     struct error *err);

#endif
