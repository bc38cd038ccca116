/* SPDX-License-Identifier: MIT */
/*
 * Enumerates objects that are not in promisor packs: commits depth first, then
 * their trees one by one. No tree diffs are made: trees are not compared with
 * the trees of parent commits, because the trees of parents may be missing.
 * Reading whole trees costs little, because few objects are outside of promisor
 * packs.
 */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/promisor.h"
#include "trees/treewalk.h"

struct local {
	struct promisor *p;
	struct walk_result *result;
	/*
	 * the walk over trees; an object in its set `seen` is skipped, with all
	 * objects below it
	 */
	struct treewalk tree;
	enum path_grouping grouping;
	/* owned; each element is the commit_nr of a commit to visit */
	uint32_t *stack;
	size_t stack_nr, stack_alloc;
	/*
	 * true: the walk started at haves, and marks all objects that it finds
	 * as excluded; false: the walk started at wants, and lists all objects
	 * that it finds
	 */
	bool is_excluding;
};

static int add_object(void *ctx, uint32_t obj_pos, enum object_type type,
		      const char *path, size_t path_len, struct error *err)
{
	struct local *l = ctx;
	const struct walk_item item = {
		.obj_pos = obj_pos,
		.name_hash = name_hash_add(0, path, path_len),
		.group = path_group_path(l->grouping, path, path_len),
		.type = (uint8_t)type,
	};
	int ret = promisor_check(l->p, obj_pos, type, err);

	if (ret <= 0)
		return ret < 0 ? ret : 1;
	if (walk_items_add(&l->result->objects, &item) < 0)
		return error_nomem(err);
	return 0;
}

/*
 * Adds an object to the set of seen objects. Returns 1 if the object is new in
 * the set, 0 if the set had it already, or a negative error code.
 */
static int see(struct local *l, uint32_t obj_pos, struct error *err)
{
	int ret = treewalk_see(&l->tree, obj_pos);

	return ret < 0 ? error_nomem(err) : ret;
}

static int push(struct local *l, uint32_t commit_nr, struct error *err)
{
	if (mem_grow(&l->stack, &l->stack_alloc, l->stack_nr + 1,
		     sizeof(*l->stack)) < 0)
		return error_nomem(err);
	l->stack[l->stack_nr++] = commit_nr;
	return 0;
}

static int list_commit(struct local *l, uint32_t commit_nr, struct error *err)
{
	struct revwalk_result *revs = &l->result->revs;

	if (mem_grow(&revs->commits, &revs->alloc, revs->nr + 1,
		     sizeof(*revs->commits)) < 0)
		return error_nomem(err);
	revs->commits[revs->nr++] = commit_nr;
	return 0;
}

static int visit_commit(struct local *l, uint32_t commit_nr, struct error *err)
{
	struct history *h = &l->p->walk->history;
	uint32_t obj_pos = h->commits[commit_nr].obj_pos;
	int ret = see(l, obj_pos, err);

	if (ret > 0 && l->is_excluding)
		ret = promisor_is_there(l->p, obj_pos);
	else if (ret > 0)
		ret = promisor_check(l->p, obj_pos, OBJ_COMMIT, err);
	if (ret <= 0)
		return ret;
	ret = history_parse(h, commit_nr, err);
	if (!ret && l->is_excluding)
		ret = treewalk_run(&l->tree, h->commits[commit_nr].tree_pos, "",
				   NULL, NULL, err);
	else if (!ret)
		ret = list_commit(l, commit_nr, err);
	for (uint32_t i = 0; !ret && i < h->commits[commit_nr].parent_nr; i++)
		ret = push(l, history_parents(h, commit_nr)[i], err);
	return ret;
}

static int visit_commits(struct local *l, const struct walk_tips *tips,
			 struct error *err)
{
	int ret = 0;

	for (size_t i = tips->commit_nr; i-- > 0 && !ret;)
		ret = push(l, tips->commits[i], err);
	while (l->stack_nr && !ret)
		ret = visit_commit(l, l->stack[--l->stack_nr], err);
	return ret;
}

static int visit_others(struct local *l, const struct walk_tips *tips,
			struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < tips->others.nr && ret >= 0; i++) {
		const struct walk_item *item = &tips->others.items[i];

		if (item->type == OBJ_TREE) {
			ret = treewalk_run(&l->tree, item->obj_pos, "",
					   l->is_excluding ? NULL : add_object,
					   l, err);
			continue;
		}
		ret = see(l, item->obj_pos, err);
		if (ret > 0 && !l->is_excluding)
			ret = add_object(l, item->obj_pos, item->type, "", 0,
					 err);
	}
	return ret < 0 ? ret : 0;
}

static int visit_trees(struct local *l, struct error *err)
{
	const struct history *h = &l->p->walk->history;
	const struct revwalk_result *revs = &l->result->revs;
	int ret = 0;

	for (size_t i = 0; i < revs->nr && !ret; i++)
		ret = treewalk_run(&l->tree,
				   h->commits[revs->commits[i]].tree_pos, "",
				   add_object, l, err);
	return ret;
}

/*
 * Sorts the found commits by date, newest first. Also fills
 * result->parents_first, in which parents come before children. Returns 0 or a
 * negative error code.
 */
static int sort_commits(struct local *l, struct error *err)
{
	const struct history *h = &l->p->walk->history;
	struct walk_result *result = l->result;
	size_t nr = result->revs.nr;
	struct sort_item *order = mem_alloc(nr, sizeof(*order));
	int ret = 0;

	result->parents_first = mem_alloc(nr, sizeof(uint32_t));
	if (!order || !result->parents_first) {
		free(order);
		return error_nomem(err);
	}
	for (size_t i = 0; i < nr; i++) {
		uint32_t c = result->revs.commits[i];

		order[i] = (struct sort_item){UINT64_MAX - h->commits[c].date,
					      c};
	}
	ret = sort_items(order, nr);
	for (size_t i = 0; i < nr; i++) {
		result->revs.commits[i] = (uint32_t)order[i].value;
		result->parents_first[i] = (uint32_t)order[i].value;
	}
	free(order);
	if (ret < 0)
		return error_nomem(err);
	return revwalk_parents_first(h, result->parents_first, nr, NULL, 0,
				     &result->trunk_nr, err);
}

/*
 * Adds as tips the promised objects that exist outside of promisor packs.
 * Returns 0 or a negative error code.
 */
static int add_promised(struct local *l, struct walk_tips *tips,
			struct error *err)
{
	struct promisor *p = l->p;
	int ret = promisor_promises(p, UINT32_MAX, err);

	for (size_t i = bitset_next(&p->named, 0);
	     i < p->named.bits && ret >= 0; i = bitset_next(&p->named, i + 1)) {
		struct oid oid;

		if (promisor_has(p, (uint32_t)i) ||
		    !promisor_is_there(p, (uint32_t)i))
			continue;
		objspace_oid(&oid, &p->walk->space, (uint32_t)i);
		ret = walk_add_tip(p->walk, tips, &oid, true, err);
	}
	return ret < 0 ? ret : 0;
}

static int run(struct local *l, const struct walk_tips *wants,
	       const struct walk_tips *haves, const struct walk_tips *promised,
	       struct error *err)
{
	int ret;

	l->is_excluding = true;
	ret = visit_commits(l, haves, err);
	if (!ret)
		ret = visit_others(l, haves, err);
	l->is_excluding = false;
	if (!ret)
		ret = visit_commits(l, wants, err);
	if (!ret)
		ret = visit_commits(l, promised, err);
	if (!ret)
		ret = sort_commits(l, err);
	if (!ret)
		ret = visit_others(l, wants, err);
	if (!ret)
		ret = visit_others(l, promised, err);
	return ret < 0 ? ret : visit_trees(l, err);
}

int promisor_enumerate(struct walk_result *result, struct promisor *p,
		       const struct walk_tips *wants,
		       const struct walk_tips *haves,
		       enum path_grouping grouping, bool keep_promised,
		       struct error *err)
{
	struct local l = {.p = p, .result = result, .grouping = grouping};
	struct walk_tips promised = WALK_TIPS_INIT;
	int ret = 0;

	if (treewalk_init(&l.tree, &p->walk->space, p->walk->reader) < 0 ||
	    bitset_copy(&l.tree.seen, &p->packed) < 0)
		ret = error_nomem(err);
	if (!ret && keep_promised)
		ret = add_promised(&l, &promised, err);
	if (!ret)
		ret = run(&l, wants, haves, &promised, err);
	walk_tips_release(&promised);
	treewalk_release(&l.tree);
	free(l.stack);
	return ret;
}
