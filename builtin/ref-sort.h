/* SPDX-License-Identifier: MIT */
/* Sorting refs by fields, git-for-each-ref(1) --sort. */
#ifndef BUILTIN_REF_SORT_H
#define BUILTIN_REF_SORT_H

#include "builtin/ref-atom.h"

struct ref_sort_key {
	struct ref_atom atom;
	bool reverse;
};

struct ref_sort {
	struct ref_sort_key *keys; /* owned; the last one is the strongest */
	size_t nr, alloc;
	bool ignore_case;
	const char **suffixes; /* owned, of strings borrowed from the
				  configuration: versionsort.suffix */
	size_t suffix_nr, suffix_alloc;
};

#define REF_SORT_INIT                                                          \
	{                                                                      \
		NULL, 0, 0, false, NULL, 0, 0                                  \
	}

/* Add a key "[-][version:|v:]<field>". 0, or as ref_atom_parse(). */
int ref_sort_add(struct ref_sort *sort, const char *key, struct error *err);
void ref_sort_release(struct ref_sort *sort);

/*
 * Take what the configuration says about versions, if a key is about them:
 * after the last key. `config` has to live as long. 0 or a negative error.
 */
int ref_sort_configure(struct ref_sort *sort, const struct config *config,
		       struct error *err);

/* Whether refs in byte order of their names are sorted as asked for. */
bool ref_sort_is_by_name(const struct ref_sort *sort);

/* A ref kept for sorting. */
struct ref_sort_item {
	char *name;   /* owned */
	char *target; /* owned, or NULL */
	struct oid oid;
	char **values;     /* owned: one for each key, NULL for numbers */
	uint64_t *numbers; /* owned */
};

/* Copy a ref with the values of all keys. Release in any case. */
int ref_sort_item_init(struct ref_sort_item *item, const struct ref_sort *sort,
		       const struct ref *ref, struct ref_atom_subject *subject,
		       struct error *err);
void ref_sort_item_release(struct ref_sort_item *item,
			   const struct ref_sort *sort);

void ref_sort_items(struct ref_sort_item *items, size_t nr,
		    const struct ref_sort *sort);

#endif
