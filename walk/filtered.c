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
		    const struct walk_tips *wants,
		    const struct walk_options *options, struct error *err)
{
	struct bitset spared = BITSET_INIT;
	int ret = filtered_spared(&spared, w, wants, options->filter_wants,
				  err);

	if (!ret)
		ret = filtered_items(&result->objects, w, options->filter,
				     &spared, err);
	if (!ret && !filter_takes_type(options->filter, OBJ_COMMIT))
		filter_commits(result, &w->history, &spared);
	bitset_release(&spared);
	return ret;
}
