/* SPDX-License-Identifier: MIT */
/*
 * Which refs: by name, by what they point at, by history;
 * git-for-each-ref(1).
 *
 * Commits are numbered as they are met, and what was found out about one is
 * kept: to ask about many refs is to walk the history between them once.
 */
#ifndef BUILTIN_REF_FILTER_H
#define BUILTIN_REF_FILTER_H

#include "builtin/ref-atom.h"
#include "ewah/bitset.h"
#include "walk/reach.h"
#include "walk/walk.h"

/* Arguments of an option that can be given again. */
struct ref_filter_list {
	const char **items; /* owned array of borrowed strings */
	size_t nr, alloc;
};

struct ref_filter {
	bool ignore_case;      /* of glob patterns */
	const char **patterns; /* borrowed, NULL-terminated: any of these */
	struct ref_filter_list exclude; /* patterns: none of these */
	struct ref_filter_list points_at, merged, no_merged, contains,
		no_contains; /* names of objects */

	const struct store *store; /* borrowed */
	struct oid *targets;       /* owned: points_at resolved */
	bool walk_is_open;
	struct walk walk;
	/* By commit_nr: what the commits of merged and no_merged reach. */
	struct bitset in_merged, in_no_merged;
	struct reach containing, not_containing;
};

void ref_filter_init(struct ref_filter *f);
void ref_filter_release(struct ref_filter *f);

/* Append an argument, or forget all (option_negated). 0 or ERR_NOMEM. */
int ref_filter_add(struct ref_filter_list *list, const char *arg);

/*
 * Look up the objects that were named; `store` has to live as long. An exit
 * code: 0, or after printing why; BUILTIN_NOT_OURS for names that only stock
 * Git resolves.
 */
int ref_filter_open(struct ref_filter *f, const struct store *store);

/* What the name says. */
bool ref_filter_takes_name(const struct ref_filter *f, const char *name);

/*
 * What the object says. 1, 0, or negative. Only commits, and tags of them,
 * are in a history.
 */
int ref_filter_takes(struct ref_filter *f, struct ref_atom_subject *subject,
		     struct error *err);

#endif
