/* SPDX-License-Identifier: MIT */
/* Removes from lists the objects that do not pass a filter. */
#include "walk/filter-walk.h"
#include "walk/filtered.h"

int filtered_items(struct walk_items *items, struct walk *w,
		   const struct filter *filter, const struct bitset *spared,
		   struct error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < items->nr; i++) {
		struct walk_item item = items->items[i];
		int ret = bitset_get(spared, item.obj_pos);

		if (!ret)
			ret = filter_takes(filter, &w->space, w->reader,
					   item.obj_pos, item.type, err);
		if (ret < 0)
			return ret;
		if (ret)
			items->items[kept++] = item;
	}
	items->nr = kept;
	return 0;
}

int filtered_spared(struct bitset *set, struct walk *w,
		    const struct walk_tips *wants, bool filter_wants,
		    struct error *err)
{
	if (filter_wants)
		return 0;
	if (bitset_grow(set, objspace_end(&w->space)) < 0)
		return error_nomem(err);
	for (size_t i = 0; i < wants->commit_nr; i++)
		bitset_set(set, w->history.commits[wants->commits[i]].obj_pos);
	for (size_t i = 0; i < wants->others.nr; i++)
		bitset_set(set, wants->others.items[i].obj_pos);
	return 0;
}

void filtered_unspare(struct bitset *spared, uint32_t obj_pos)
{
	if (bitset_get(spared, obj_pos))
		bitset_unset(spared, obj_pos);
}

int filtered_unspare_roots(struct bitset *spared, struct walk *w,
			   const uint32_t *commits, size_t nr,
			   struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		const struct history_commit *c =
			&w->history.commits[commits[i]];
		uint32_t tree_pos;

		if (!c->parsed || c->missing)
			continue;
		ret = history_tree(&w->history, commits[i], &tree_pos, err);
		if (!ret)
			filtered_unspare(spared, tree_pos);
	}
	return ret;
}

bool filtered_may_nest(const struct walk_tips *wants)
{
	bool has_tree = false;

	for (size_t i = 0; i < wants->others.nr; i++) {
		enum object_type type = wants->others.items[i].type;

		if (has_tree && type != OBJ_TAG)
			return true;
		has_tree |= type == OBJ_TREE;
	}
	return false;
}

/*
 * Removes from `commits` all commits that are not in the set `spared` (indexed
 * by obj_pos). Returns the number of commits that remain.
 */
static size_t keep_commits(uint32_t *commits, size_t nr,
			   const struct history *h, const struct bitset *spared)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		if (bitset_get(spared, h->commits[commits[i]].obj_pos))
			commits[kept++] = commits[i];
	return kept;
}

static void filter_commits(struct walk_result *result, const struct history *h,
			   const struct bitset *spared)
{
	uint32_t *first = result->parents_first;
	size_t trunk = result->trunk_nr, nr = result->revs.nr;
	size_t kept;

	if (first) {
		result->trunk_nr = keep_commits(first, trunk, h, spared);
		kept = keep_commits(first + trunk, nr - trunk, h, spared);
		for (size_t i = 0; i < kept; i++)
			first[result->trunk_nr + i] = first[trunk + i];
	}
	result->revs.nr = keep_commits(result->revs.commits, nr, h, spared);
}

int filtered_result(struct walk_result *result, struct walk *w,
		    const struct filter *filter, const struct bitset *spared,
		    struct error *err)
{
	int ret = filtered_items(&result->objects, w, filter, spared, err);

	if (!ret && !filter_takes_type(filter, OBJ_COMMIT))
		filter_commits(result, &w->history, spared);
	return ret;
}
