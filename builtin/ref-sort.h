/* SPDX-License-Identifier: MIT */
/* Sorting refs by fields, as git-for-each-ref(1) --sort does. */
#ifndef BUILTIN_REF_SORT_H
#define BUILTIN_REF_SORT_H

#include "builtin/ref-atom.h"

struct ref_sort_key {
	struct ref_atom atom;
	bool reverse;
};

struct ref_sort {
	/* owned; the last key has the highest priority */
	struct ref_sort_key *keys;
	size_t nr, alloc;
	bool ignore_case;
	/*
	 * owned array of strings borrowed from the configuration:
	 * versionsort.suffix
	 */
	const char **suffixes;
	size_t suffix_nr, suffix_alloc;
};

#define REF_SORT_INIT                                                          \
	{                                                                      \
		NULL, 0, 0, false, NULL, 0, 0                                  \
	}

/* Add a key "[-][version:|v:]<field>". Returns as ref_atom_parse(). */
int ref_sort_add(struct ref_sort *sort, const char *key, struct error *err);
void ref_sort_release(struct ref_sort *sort);

/*
 * Load versionsort.suffix if a key compares versions. Must be called after the
 * last key was added. `config` must outlive *sort. Returns 0 or a negative
 * error code.
 */
int ref_sort_configure(struct ref_sort *sort, const struct config *config,
		       struct error *err);

/* Whether the requested order is the byte order of names. */
bool ref_sort_is_by_name(const struct ref_sort *sort);

/* A ref that will be sorted. */
struct ref_sort_item {
	char *name;   /* owned */
	char *target; /* owned, or NULL */
	struct oid oid;
	/* owned: one for each key; NULL for numbers */
	char **values;
	uint64_t *numbers; /* owned */
};

/*
 * Copy a ref with the values of all keys. Returns 0 or a negative error code.
 * The caller must release *item in both cases.
 */
int ref_sort_item_init(struct ref_sort_item *item, const struct ref_sort *sort,
		       const struct ref *ref, struct ref_atom_subject *subject,
		       struct error *err);
void ref_sort_item_release(struct ref_sort_item *item,
			   const struct ref_sort *sort);

void ref_sort_items(struct ref_sort_item *items, size_t nr,
		    const struct ref_sort *sort);

#endif
