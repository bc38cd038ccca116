/* SPDX-License-Identifier: MIT */
/* Finds out which objects of an enumeration pass a filter. */
#include "packs/pack-job-parts.h"
#include "walk/filter-walk.h"
#include "walk/filtered.h"

static int ask(struct bitset *passed, const struct filter_split *split,
	       const struct filter *filter, uint32_t obj_pos,
	       enum object_type type, struct error *err)
{
	struct walk *w = split->walk;
	int ret;

	if (bitset_get(passed, obj_pos))
		return 0;
	ret = filter_takes(filter, &w->space, w->reader, obj_pos, type, err);
	if (ret > 0)
		bitset_set(passed, obj_pos);
	return ret < 0 ? ret : 0;
}

/*
 * Add each object of the enumeration that passes the filter to *passed. The
 * wants are in *passed already.
 */
static int ask_all(struct bitset *passed, const struct filter_split *split,
		   const struct filter *filter, struct error *err)
{
	const struct history *h = &split->walk->history;
	const struct walk_result *found = split->found;
	int ret = 0;

	for (size_t i = 0; i < found->revs.nr && !ret; i++)
		ret = ask(passed, split, filter,
			  h->commits[found->revs.commits[i]].obj_pos,
			  OBJ_COMMIT, err);
	for (size_t i = 0; i < found->objects.nr && !ret; i++)
		ret = ask(passed, split, filter,
			  found->objects.items[i].obj_pos,
			  found->objects.items[i].type, err);
	return ret;
}

/*
 * Walk again, now with the filter, and add the objects that this walk finds to
 * *passed.
 */
static int walk_again(struct bitset *passed, const struct filter_split *split,
		      const struct filter *filter, struct error *err)
{
	const struct walk_options options = {
		.objects = true,
		.filter = filter,
	};
	const struct history *h = &split->walk->history;
	struct walk_result again = WALK_RESULT_INIT;
	int ret = walk_enumerate(&again, split->walk, split->wants,
				 split->haves, &options, err);

	if (!ret && bitset_grow(passed, objspace_end(&split->walk->space)) < 0)
		ret = error_nomem(err);
	for (size_t i = 0; i < again.revs.nr && !ret; i++)
		bitset_set(passed, h->commits[again.revs.commits[i]].obj_pos);
	for (size_t i = 0; i < again.objects.nr && !ret; i++)
		bitset_set(passed, again.objects.items[i].obj_pos);
	walk_result_release(&again);
	return ret;
}

int filter_split_passed(struct bitset *passed, const struct filter_split *split,
			const struct filter *filter, struct error *err)
{
	int ret;

	if (filter_needs_paths(filter))
		return walk_again(passed, split, filter, err);
	ret = filtered_spared(passed, split->walk, split->wants, false, err);
	return ret < 0 ? ret : ask_all(passed, split, filter, err);
}
