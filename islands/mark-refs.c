/* SPDX-License-Identifier: MIT */
/* Islands of references (pack.island): finds the islands of each object. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/islands.h"
#include "trees/treewalk.h"

/* A reference that is in an island. */
struct island_ref {
	struct oid oid;
	uint32_t island;
};

struct marking {
	struct islands *islands;
	struct walk *w;
	const struct walk_result *found;
	const struct walk_tips *heads;
	/*
	 * borrowed: the promised objects of a partial clone; NULL: not a
	 * partial clone, so `found` has lists
	 */
	const struct promisor *promisor;
	struct island_patterns patterns;
	struct island_ref *refs; /* owned */
	size_t ref_nr, ref_alloc;
	/*
	 * owned array, indexed by commit_nr: the set of islands that the commit
	 * is in, as an index into islands->sets
	 */
	uint32_t *commit_sets;
	uint32_t commit_end;
	/*
	 * the set of islands that all objects below the current tree get, as an
	 * index into islands->sets
	 */
	uint32_t set;
	/*
	 * true: the current tree is that of a head commit. The objects of this
	 * tree are put into the tip island, because a clone of depth 1 gets
	 * them.
	 */
	bool is_a_tip;
	struct progress meter;
	struct error *err;
};

static int add_ref(void *ctx, const struct ref *ref)
{
	struct marking *p = ctx;
	uint32_t island;
	int ret = island_patterns_match(&island, &p->patterns, ref->name,
					p->err);

	if (ret <= 0)
		return ret;
	if (mem_grow(&p->refs, &p->ref_alloc, p->ref_nr + 1, sizeof(*p->refs)) <
	    0)
		return error_nomem(p->err);
	p->refs[p->ref_nr++] = (struct island_ref){ref->oid, island};
	return 0;
}

/* Finds the island of each reference. */
static int match_refs(struct marking *p, struct refs *refs)
{
	const struct config *config = &p->w->odb->repo->config;
	const struct config_entry *core = config_find(config,
						      "pack.islandcore");
	int ret = island_patterns_load(&p->patterns, config, p->err);

	if (!ret && core && !core->value)
		ret = error_set(p->err, ERR_INVALID,
				"missing value for 'pack.islandcore'");

	if (!ret && p->patterns.nr)
		ret = p->islands->skips_broken
			      ? refs_each(refs, "", add_ref, p, NULL, p->err)
			      : refs_each_strict(refs, "", add_ref, p, p->err);
	if (!ret && core)
		p->islands->core = island_patterns_find(&p->patterns,
							core->value);
	return ret;
}

static int mark_object(struct marking *p, uint32_t obj_pos, uint32_t set)
{
	struct islands *islands = p->islands;

	if (obj_pos >= islands->end)
		return 0;
	return island_sets_add(&islands->set_of[obj_pos], &islands->sets, set);
}

/*
 * For a partial clone: returns whether an object and all objects below it can
 * be skipped. They can be skipped if the object is missing or in a promisor
 * pack. If p->is_a_tip is false, they can also be skipped if the object already
 * is in all islands of p->set.
 *
 * If p->is_a_tip is true, objects are put not only into the islands of p->set,
 * but also into the tip island (the objects of clones of depth 1). An object
 * that already is in all islands of p->set may still have to be put into the
 * tip island. So it is not skipped.
 */
static bool is_to_skip(const struct marking *p, uint32_t obj_pos)
{
	const struct islands *islands = p->islands;

	if (promisor_has(p->promisor, obj_pos) ||
	    !promisor_is_there(p->promisor, obj_pos))
		return true;
	return obj_pos < islands->end && !p->is_a_tip &&
	       island_sets_contains(&islands->sets, islands->set_of[obj_pos],
				    p->set);
}

static int mark_below(void *ctx, uint32_t obj_pos, enum object_type type,
		      const char *path, size_t path_len, struct error *err)
{
	struct marking *p = ctx;

	if (p->promisor && is_to_skip(p, obj_pos))
		return 1;
	if (p->is_a_tip && obj_pos < p->islands->end)
		bitset_set(&p->islands->tip, obj_pos);
	return mark_object(p, obj_pos, p->set) < 0 ? error_nomem(err) : 0;
}

static int mark_tree(struct marking *p, uint32_t tree_pos, uint32_t set)
{
	struct treewalk tree;
	int ret;

	p->set = set;
	if (treewalk_init(&tree, &p->w->space, p->w->reader) < 0)
		ret = error_nomem(p->err);
	else
		ret = treewalk_run(&tree, tree_pos, "", mark_below, p, p->err);
	treewalk_release(&tree);
	return ret;
}

/*
 * Adds the islands of `set` to the tips. If a tip is a tree, also adds the
 * islands to all objects below the tree.
 */
static int mark_tips(struct marking *p, const struct walk_tips *tips,
		     uint32_t set)
{
	int ret = 0;

	for (size_t i = 0; i < tips->commit_nr && !ret; i++)
		if (tips->commits[i] < p->commit_end &&
		    island_sets_add(&p->commit_sets[tips->commits[i]],
				    &p->islands->sets, set) < 0)
			ret = error_nomem(p->err);
	for (size_t i = 0; i < tips->others.nr && !ret; i++) {
		const struct walk_item *item = &tips->others.items[i];

		if (item->type == OBJ_TREE)
			ret = mark_tree(p, item->obj_pos, set);
		else if (mark_object(p, item->obj_pos, set) < 0)
			ret = error_nomem(p->err);
	}
	return ret;
}

static int by_value(const void *a, const void *b)
{
	const struct island_ref *x = a, *y = b;
	int ret = oid_cmp(&x->oid, &y->oid);

	return ret ? ret : x->island < y->island ? -1 : x->island > y->island;
}

/*
 * Sets *set to the set of all islands to which at least one of `nr` references
 * belongs. All these references name the same object.
 */
static int collect_set(uint32_t *set, struct marking *p,
		       const struct island_ref *refs, size_t nr)
{
	struct island_sets *sets = &p->islands->sets;

	*set = ISLAND_SET_EMPTY;
	if (island_sets_begin(sets) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < nr; i++)
		island_sets_put(sets, refs[i].island);
	*set = island_sets_end(sets);
	return 0;
}

static int mark_value(struct marking *p, const struct island_ref *refs,
		      size_t nr)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	uint32_t set;
	bool lenient = p->promisor || p->islands->skips_broken;
	int ret = walk_add_tip(p->w, &tips, &refs->oid, lenient, p->err);

	if (!ret && collect_set(&set, p, refs, nr) < 0)
		ret = error_nomem(p->err);
	if (!ret)
		ret = mark_tips(p, &tips, set);
	walk_tips_release(&tips);
	return ret;
}

/*
 * For each object that references name, marks the islands of these references.
 * References of forks often name the same object, which is then looked up once.
 */
static int mark_values(struct marking *p)
{
	size_t end;
	int ret = 0;

	qsort(p->refs, p->ref_nr, sizeof(*p->refs), by_value);
	for (size_t i = 0; i < p->ref_nr && !ret; i = end) {
		end = i + 1;
		while (end < p->ref_nr &&
		       oid_equal(&p->refs[end].oid, &p->refs[i].oid))
			end++;
		ret = mark_value(p, p->refs + i, end - i);
	}
	return ret;
}

/*
 * Adds the islands of a commit to the islands of its parents. Returns 0 or
 * ERR_NOMEM.
 */
static int mark_parents(struct marking *p, uint32_t commit)
{
	const struct history *h = &p->w->history;
	const uint32_t *parents = history_parents(h, commit);

	for (uint32_t i = 0; i < h->commits[commit].parent_nr; i++)
		if (island_sets_add(&p->commit_sets[parents[i]],
				    &p->islands->sets,
				    p->commit_sets[commit]) < 0)
			return error_nomem(p->err);
	return 0;
}

static int mark_list(struct marking *p, const struct newobj_list *list,
		     uint32_t set)
{
	for (uint32_t i = 0; i < list->nr; i++)
		if (mark_object(p, list->items[i].obj_pos, set) < 0)
			return error_nomem(p->err);
	return 0;
}

/*
 * Gives the islands of a commit (p->commit_sets) to the commit object, and to
 * the trees and blobs that are new in the commit. `i` is the commit's index in
 * found->parents_first. Returns 0 or a negative error code.
 */
static int mark_commit(struct marking *p, size_t i)
{
	uint32_t c = p->found->parents_first[i], set = p->commit_sets[c];
	const struct history_commit *commit = &p->w->history.commits[c];

	if (mark_object(p, commit->obj_pos, set) < 0)
		return error_nomem(p->err);
	if (p->promisor)
		return mark_tree(p, commit->tree_pos, set);
	progress_add(&p->meter, p->found->lists.lists[i].tree_nr);
	return mark_list(p, &p->found->lists.lists[i], set);
}

/* Returns the number of trees that mark_commits() marks, or 0 if unknown. */
static uint64_t tree_nr(const struct marking *p)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < p->found->revs.nr && !p->promisor; i++)
		nr += p->found->lists.lists[i].tree_nr;
	return nr;
}

static int mark_commits(struct marking *p)
{
	const struct walk_result *found = p->found;
	uint64_t total = tree_nr(p);
	int ret = 0;

	progress_start(&p->meter, total ? p->islands->progress : NULL,
		       "Propagating island marks", total);
	for (size_t i = found->revs.nr; i-- > 0 && !ret;)
		ret = mark_parents(p, found->parents_first[i]);
	for (size_t i = 0; i < found->revs.nr && !ret; i++)
		ret = mark_commit(p, i);
	progress_stop(&p->meter);
	return ret;
}

/*
 * A head commit has two islands. One contains the objects of the commit's tree,
 * the other contains the whole history of the commit. Returns the number of the
 * island of the tree if `is_tip` is true, or of the island of the history if
 * `is_tip` is false. The islands of pack.island have the lowest numbers. The
 * numbers of the islands of head commits follow.
 */
static uint32_t head_island(const struct marking *p, size_t head, bool is_tip)
{
	return (uint32_t)(p->patterns.name_nr + 2 * head + is_tip);
}

/*
 * Each head commit has an island for its history (head_island()). Marks only
 * the head commits themselves with these islands. Later, mark_commits() marks
 * the ancestors, too. Returns 0 or ERR_NOMEM.
 */
static int mark_heads(struct marking *p)
{
	const struct walk_tips *heads = p->heads;
	uint32_t set;

	for (size_t i = 0; i < heads->commit_nr; i++)
		if (island_sets_single(&set, &p->islands->sets,
				       head_island(p, i, false)) < 0 ||
		    island_sets_add(&p->commit_sets[heads->commits[i]],
				    &p->islands->sets, set) < 0)
			return error_nomem(p->err);
	return 0;
}

static int mark_head_trees(struct marking *p)
{
	const struct walk_tips *heads = p->heads;
	const struct history *h = &p->w->history;
	int ret = 0;

	if (!heads->commit_nr)
		return 0;
	if (bitset_grow(&p->islands->tip, p->islands->end) < 0)
		return error_nomem(p->err);
	p->is_a_tip = true;
	for (size_t i = 0; i < heads->commit_nr && !ret; i++) {
		uint32_t set;

		ret = island_sets_single(&set, &p->islands->sets,
					 head_island(p, i, true));
		ret = ret < 0 ? error_nomem(p->err)
			      : mark_tree(
					p,
					h->commits[heads->commits[i]].tree_pos,
					set);
	}
	return ret;
}

static int mark_all(struct marking *p)
{
	struct islands *islands = p->islands;
	size_t island_nr = p->patterns.name_nr + 2 * p->heads->commit_nr;
	int ret;

	islands->end = objspace_end(&p->w->space);
	islands->set_of = mem_calloc(islands->end, sizeof(*islands->set_of));
	p->commit_end = (uint32_t)p->w->history.nr;
	p->commit_sets = mem_calloc(p->commit_end, sizeof(*p->commit_sets));
	if (!islands->set_of || !p->commit_sets ||
	    island_sets_init(&islands->sets, (uint32_t)island_nr) < 0)
		return error_nomem(p->err);
	ret = mark_values(p);
	if (!ret)
		ret = mark_heads(p);
	if (!ret)
		ret = mark_commits(p);
	return ret < 0 ? ret : mark_head_trees(p);
}

int islands_mark_refs(struct islands *islands, struct walk *w,
		      const struct walk_result *found, struct refs *refs,
		      const struct walk_tips *heads,
		      const struct promisor *promisor, struct error *err)
{
	struct marking p = {
		.islands = islands,
		.w = w,
		.found = found,
		.heads = heads,
		.promisor = promisor,
		.patterns = ISLAND_PATTERNS_INIT,
		.err = err,
	};
	int ret = match_refs(&p, refs);

	if (!ret && (p.ref_nr || heads->commit_nr))
		ret = mark_all(&p);
	island_patterns_release(&p.patterns);
	free(p.refs);
	free(p.commit_sets);
	return ret;
}

static int by_island(const void *a, const void *b)
{
	const struct island_ref *x = a, *y = b;

	return x->island < y->island ? -1 : x->island > y->island;
}

static int by_sum(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Returns the number of islands of references. Islands whose references have
 * the same values count as one. For each island, the first 8 bytes of its
 * references' ids are added up. Islands with equal sums are taken to have the
 * same values. `sums` is scratch memory for p->ref_nr numbers.
 */
static size_t count_different(struct marking *p, uint64_t *sums)
{
	size_t nr = 0, different = 0;

	qsort(p->refs, p->ref_nr, sizeof(*p->refs), by_island);
	for (size_t i = 0; i < p->ref_nr; i++) {
		uint64_t word;

		memcpy(&word, p->refs[i].oid.bytes, sizeof(word));
		if (!i || p->refs[i].island != p->refs[i - 1].island)
			sums[nr++] = 0;
		sums[nr - 1] += word;
	}
	if (nr)
		qsort(sums, nr, sizeof(*sums), by_sum);
	for (size_t i = 0; i < nr; i++)
		different += !i || sums[i] != sums[i - 1];
	return different;
}

int islands_count(size_t *nr, struct walk *w, struct refs *refs,
		  struct error *err)
{
	struct islands islands = ISLANDS_INIT;
	struct marking p = {
		.islands = &islands,
		.w = w,
		.patterns = ISLAND_PATTERNS_INIT,
		.err = err,
	};
	uint64_t *sums = NULL;
	int ret;

	*nr = 0;
	islands.skips_broken = true;
	ret = match_refs(&p, refs);
	if (!ret && p.ref_nr) {
		sums = mem_alloc(p.ref_nr, sizeof(*sums));
		ret = sums ? 0 : error_nomem(err);
	}
	if (sums)
		*nr = count_different(&p, sums);
	island_patterns_release(&p.patterns);
	free(p.refs);
	free(sums);
	islands_release(&islands);
	return ret;
}
