/* SPDX-License-Identifier: MIT */
/*
 * Sorts refs. The keys of each ref are computed once, and only the keys are
 * compared.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/sort.h"
#include "builtin/for-each-ref.h"

int ref_sort_add(struct ref_sort *sort, const char *key, struct error *err)
{
	struct ref_sort_key k = {.reverse = *key == '-'};
	bool version;
	size_t prefix;
	int ret;

	key += k.reverse;
	prefix = !strncmp(key, "version:", 8) ? 8
		 : !strncmp(key, "v:", 2)     ? 2
					      : 0;
	version = prefix != 0;
	key += prefix;
	ret = ref_atom_parse(&k.atom, key, strlen(key), err);
	if (ret < 0)
		return ret;
	if (version)
		k.atom.order = REF_ATOM_BY_VERSION;
	if (mem_grow(&sort->keys, &sort->alloc, sort->nr + 1,
		     sizeof(*sort->keys)) < 0)
		return error_nomem(err);
	sort->keys[sort->nr++] = k;
	return 0;
}

void ref_sort_release(struct ref_sort *sort)
{
	free(sort->keys);
	free(sort->suffixes);
	*sort = (struct ref_sort)REF_SORT_INIT;
}

static int add_suffix(void *ctx, const struct config_entry *entry)
{
	struct ref_sort *sort = ctx;

	if (!entry->value)
		return ERR_INVALID;
	if (mem_grow(&sort->suffixes, &sort->suffix_alloc, sort->suffix_nr + 1,
		     sizeof(*sort->suffixes)) < 0)
		return ERR_NOMEM;
	sort->suffixes[sort->suffix_nr++] = entry->value;
	return 0;
}

int ref_sort_configure(struct ref_sort *sort, const struct config *config,
		       struct error *err)
{
	const char *key = "versionsort.suffix";
	bool by_version = false;
	int ret;

	for (size_t i = 0; i < sort->nr; i++)
		if (sort->keys[i].atom.order == REF_ATOM_BY_VERSION)
			by_version = true;
	if (!by_version)
		return 0;
	if (!config_find(config, key))
		key = "versionsort.prereleasesuffix";
	else if (config_find(config, "versionsort.prereleasesuffix"))
		builtin_warn("ignoring versionsort.prereleasesuffix because "
			     "versionsort.suffix is set");
	ret = config_each(config, key, add_suffix, sort);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	return ret ? error_set(err, ret, "missing value for '%s'", key) : 0;
}

bool ref_sort_is_by_name(const struct ref_sort *sort)
{
	const struct ref_sort_key *key;

	if (sort->ignore_case || !sort->nr)
		return !sort->ignore_case;
	key = &sort->keys[sort->nr - 1];
	return key->atom.kind == REF_ATOM_REFNAME &&
	       key->atom.name == REF_ATOM_FULL && !key->atom.deref &&
	       key->atom.order == REF_ATOM_BY_BYTES && !key->reverse;
}

static int take_value(struct ref_sort_item *item, size_t i,
		      const struct ref_atom *atom,
		      struct ref_atom_subject *subject, struct error *err)
{
	struct buf value = BUF_INIT;
	int ret;

	if (atom->order == REF_ATOM_BY_NUMBER)
		return ref_atom_number(&item->numbers[i], atom, subject, err);
	ret = ref_atom_append(&value, atom, subject, err);
	item->values[i] = buf_detach(&value, NULL);
	if (!ret && !item->values[i])
		ret = error_nomem(err);
	return ret;
}

int ref_sort_item_init(struct ref_sort_item *item, const struct ref_sort *sort,
		       const struct ref *ref, struct ref_atom_subject *subject,
		       struct error *err)
{
	size_t i;
	int ret = 0;

	memset(item, 0, sizeof(*item));
	item->oid = ref->oid;
	item->name = mem_strdup(ref->name);
	if (ref->target)
		item->target = mem_strdup(ref->target);
	item->values = mem_calloc(sort->nr, sizeof(*item->values));
	item->numbers = mem_calloc(sort->nr, sizeof(*item->numbers));
	if (!item->name || (ref->target && !item->target) || !item->values ||
	    !item->numbers)
		return error_nomem(err);
	for (i = 0; !ret && i < sort->nr; i++)
		ret = take_value(item, i, &sort->keys[i].atom, subject, err);
	return ret;
}

void ref_sort_item_release(struct ref_sort_item *item,
			   const struct ref_sort *sort)
{
	size_t i;

	for (i = 0; item->values && i < sort->nr; i++)
		free(item->values[i]);
	free(item->values);
	free(item->numbers);
	free(item->name);
	free(item->target);
}

static int compare_values(const struct ref_sort_item *a,
			  const struct ref_sort_item *b, size_t i,
			  const struct ref_sort *sort)
{
	switch (sort->keys[i].atom.order) {
	case REF_ATOM_BY_NUMBER:
		return a->numbers[i] < b->numbers[i]
			       ? -1
			       : a->numbers[i] > b->numbers[i];
	case REF_ATOM_BY_VERSION:
		return sort_versions_cmp(a->values[i], b->values[i],
					 (const char *const *)sort->suffixes,
					 sort->suffix_nr);
	default:
		return sort->ignore_case
			       ? strcasecmp(a->values[i], b->values[i])
			       : strcmp(a->values[i], b->values[i]);
	}
}

static int compare_items(const void *va, const void *vb, void *ctx)
{
	const struct ref_sort_item *a = va;
	const struct ref_sort_item *b = vb;
	const struct ref_sort *sort = ctx;
	size_t i;

	for (i = sort->nr; i--;) {
		int cmp = compare_values(a, b, i, sort);

		if (cmp)
			return sort->keys[i].reverse ? -cmp : cmp;
	}
	return sort->ignore_case && strcasecmp(a->name, b->name)
		       ? strcasecmp(a->name, b->name)
		       : strcmp(a->name, b->name);
}

void ref_sort_items(struct ref_sort_item *items, size_t nr,
		    const struct ref_sort *sort)
{
	if (nr)
		qsort_r(items, nr, sizeof(*items), compare_items,
			(void *)(uintptr_t)sort);
}
