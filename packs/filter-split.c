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
 * Add to *passed each object of the enumeration that passes the filter. The
 * wants are in *passed already. Returns 0 or a negative error code.
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
 * Walk again, now with the filter, and add to *passed the objects that this
 * walk finds. Returns 0 or a negative error code.
 */
static int walk_again(struct bitset *passed, const struct filter_split *split,
		      const struct filter *filter, struct error *err)
{
	const struct walk_options options = {
		.objects = true,
		.missing_blobs = split->missing_blobs,
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

/* ---- a filter by path in a partial clone */

/* A walk over the trees of found commits. */
struct local {
	struct bitset *passed;
	struct bitset spared; /* see filtered.h */
	struct treewalk tree;
	struct filter_walk walk;
	struct error *err;
};

static int pass(void *ctx, uint32_t obj_pos, enum object_type type,
		const char *path, size_t path_len, struct error *err)
{
	struct local *l = ctx;

	bitset_set(l->passed, obj_pos);
	return 0;
}

/*
 * The enumeration has read all found trees, and has given a number to each of
 * their entries, also to objects that are missing, excluded or in a promisor
 * pack. Mark all numbered objects as seen, except those that the enumeration
 * has found. So the walk visits only found objects. Returns 0 or ERR_NOMEM.
 */
static int exclude_others(struct local *l, const struct filter_split *split)
{
	const struct walk_items *objects = &split->found->objects;
	size_t end = objspace_end(&split->walk->space);

	if (bitset_grow(&l->tree.seen, end) < 0 ||
	    bitset_grow(l->passed, end) < 0)
		return error_nomem(l->err);
	bitset_set_range(&l->tree.seen, 0, end);
	for (size_t i = 0; i < objects->nr; i++)
		bitset_unset(&l->tree.seen, objects->items[i].obj_pos);
	return 0;
}

static int pass_want(struct local *l, const struct walk_item *item)
{
	bool is_spared = bitset_get(&l->spared, item->obj_pos);

	if (item->type == OBJ_TREE)
		return filter_walk_run(&l->walk, item->obj_pos, "", is_spared,
				       pass, l, l->err);
	if (!is_spared)
		return filter_walk_blob(&l->walk, item->obj_pos, "", pass, l,
					l->err);
	bitset_set(l->passed, item->obj_pos);
	return 0;
}

static int pass_wants(struct local *l, const struct filter_split *split)
{
	const struct walk_tips *wants = split->wants;
	int ret = 0;

	for (size_t i = 0; i < wants->commit_nr; i++) {
		uint32_t c = wants->commits[i];

		bitset_set(l->passed, split->walk->history.commits[c].obj_pos);
	}
	for (size_t i = 0; i < wants->others.nr && !ret; i++)
		ret = pass_want(l, &wants->others.items[i]);
	return ret;
}

static int pass_commits(struct local *l, const struct filter_split *split,
			const struct filter *filter)
{
	const struct history *h = &split->walk->history;
	const struct revwalk_result *revs = &split->found->revs;
	bool takes = filter_takes_type(filter, OBJ_COMMIT);
	int ret = 0;

	for (size_t i = 0; i < revs->nr && !ret; i++) {
		const struct history_commit *c = &h->commits[revs->commits[i]];

		if (takes)
			bitset_set(l->passed, c->obj_pos);
		ret = filter_walk_run(&l->walk, c->tree_pos, "", false, pass, l,
				      l->err);
	}
	return ret;
}

/*
 * Add two kinds of the found objects to the set l->passed: the tags, if the
 * filter lets tags pass, and all objects to which a promisor pack refers.
 */
static void pass_others(struct local *l, const struct filter_split *split,
			const struct filter *filter)
{
	const struct walk_items *objects = &split->found->objects;
	bool takes = filter_takes_type(filter, OBJ_TAG);

	for (size_t i = 0; i < objects->nr; i++) {
		const struct walk_item *item = &objects->items[i];

		if (bitset_get(&split->promisor->named, item->obj_pos) ||
		    (takes && item->type == OBJ_TAG))
			bitset_set(l->passed, item->obj_pos);
	}
}

/*
 * Set *spared to the wants that pass even if the filter would leave them out. A
 * wanted tree is not in this set if it is the root tree of a found commit.
 * Returns 0 or a negative error code.
 */
static int spare_wants(struct bitset *spared, const struct filter_split *split,
		       struct error *err)
{
	const struct revwalk_result *revs = &split->found->revs;
	int ret = filtered_spared(spared, split->walk, split->wants, false,
				  err);

	if (ret < 0 || !split->wants->others.nr)
		return ret;
	return filtered_unspare_roots(spared, split->walk, revs->commits,
				      revs->nr, err);
}

static int walk_local(struct bitset *passed, const struct filter_split *split,
		      const struct filter *filter, struct error *err)
{
	struct walk *w = split->walk;
	struct local l = {.passed = passed, .err = err};
	int ret = spare_wants(&l.spared, split, err);

	if (treewalk_init(&l.tree, &w->space, w->reader) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = exclude_others(&l, split);
	if (!ret)
		ret = filter_walk_init(&l.walk, filter, &l.tree, err);
	if (!ret)
		l.walk.spared = filtered_may_nest(split->wants) ? &l.spared
								: NULL;
	if (!ret)
		ret = pass_wants(&l, split);
	l.walk.spared = NULL;
	if (!ret)
		ret = pass_commits(&l, split, filter);
	if (!ret)
		pass_others(&l, split, filter);
	filter_walk_release(&l.walk);
	treewalk_release(&l.tree);
	bitset_release(&l.spared);
	return ret;
}

int filter_split_passed(struct bitset *passed, const struct filter_split *split,
			const struct filter *filter, struct error *err)
{
	int ret;

	if (filter_needs_paths(filter) || filtered_may_nest(split->wants))
		return split->promisor ? walk_local(passed, split, filter, err)
				       : walk_again(passed, split, filter, err);
	ret = spare_wants(passed, split, err);
	return ret < 0 ? ret : ask_all(passed, split, filter, err);
}
