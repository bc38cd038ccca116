/* SPDX-License-Identifier: MIT */
/*
 * Returns children before parents while the walk continues. This needs the
 * generation numbers of a commit-graph.
 *
 * A commit may be returned when all its children were returned. Children have
 * higher generation numbers than their parents. So all children of a commit are
 * known when all commits with higher numbers were processed.
 *
 * The walk goes down the generation numbers. For a number g, there are three
 * steps. First, all commits with number g or more are simplified. Second, each
 * of them is counted as a child of its parents. Third, each commit whose
 * children were all returned is returned.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simplify/simplify-parts.h"

struct simplify_topo {
	/* commits to simplify, the highest generation number first */
	struct heap explore;
	/*
	 * commits that are to be counted as a child of their parents, the
	 * highest generation number first
	 */
	struct heap count;
	/*
	 * owned array, indexed by commit_nr: one more than the number of
	 * children that were not returned yet; 0: the walk has not found the
	 * commit yet
	 */
	uint32_t *children;
	size_t nr, alloc;
	/*
	 * a generation number: for each commit with this or a higher number,
	 * all children were counted
	 */
	uint32_t generation;
	struct simplify_ready ready;
};

static uint32_t generation_of(const struct simplify *s, uint32_t c)
{
	return s->h->commits[c].generation;
}

static int grow(struct simplify *s)
{
	struct simplify_topo *t = s->topo;

	if (s->node_nr <= t->nr)
		return 0;
	if (mem_grow(&t->children, &t->alloc, s->node_nr,
		     sizeof(*t->children)) < 0)
		return ERR_NOMEM;
	memset(t->children + t->nr, 0,
	       (s->node_nr - t->nr) * sizeof(*t->children));
	t->nr = s->node_nr;
	return 0;
}

/* Pushes a commit into a heap, unless `flag` says that it was pushed before. */
static int push_once(struct simplify *s, struct heap *heap, uint32_t flag,
		     uint32_t c)
{
	if (simplify_has(s, c, flag))
		return 0;
	simplify_node(s, c)->flags |= flag;
	return heap_push(heap, generation_of(s, c), c);
}

/*
 * Simplifies all known commits whose generation number is `generation` or
 * higher, and adds their parents to the known commits.
 */
static int explore_to(struct simplify *s, uint32_t generation,
		      struct error *err)
{
	struct heap *heap = &s->topo->explore;
	uint32_t c;

	while (heap->nr && heap->items[0].key >= generation &&
	       heap_pop(heap, &c)) {
		int ret = simplify_expand(s, c, err);

		if (ret < 0)
			return ret;
		for (uint32_t i = 0; i < simplify_node(s, c)->parent_nr; i++)
			if (push_once(s, heap, SIMPLIFY_EXPLORED,
				      simplify_node_parents(s, c)[i]) < 0)
				return error_nomem(err);
	}
	return grow(s) < 0 ? error_nomem(err) : 0;
}

/*
 * Counts each known commit whose generation number is `generation` or higher as
 * a child of its parents.
 */
static int count_to(struct simplify *s, uint32_t generation, struct error *err)
{
	struct simplify_topo *t = s->topo;
	uint32_t c;

	while (t->count.nr && t->count.items[0].key >= generation &&
	       heap_pop(&t->count, &c)) {
		int ret = explore_to(s, generation_of(s, c), err);

		if (ret < 0)
			return ret;
		for (uint32_t i = 0; i < simplify_node(s, c)->parent_nr; i++) {
			uint32_t p = simplify_node_parents(s, c)[i];

			t->children[p] += t->children[p] ? 1 : 2;
			if (push_once(s, &t->count, SIMPLIFY_COUNTED, p) < 0)
				return error_nomem(err);
		}
	}
	return 0;
}

static int add_tips(struct simplify *s, const struct simplify_list *tips,
		    struct error *err)
{
	struct simplify_topo *t = s->topo;
	int ret;

	if (grow(s) < 0)
		return error_nomem(err);
	for (size_t i = 0; i < tips->nr; i++) {
		uint32_t c = tips->items[i];

		t->children[c] = 1;
		if (push_once(s, &t->explore, SIMPLIFY_EXPLORED, c) < 0 ||
		    push_once(s, &t->count, SIMPLIFY_COUNTED, c) < 0)
			return error_nomem(err);
		if (generation_of(s, c) < t->generation)
			t->generation = generation_of(s, c);
	}
	ret = count_to(s, t->generation, err);
	if (!ret && simplify_ready_tips(&t->ready, s, tips, t->children) < 0)
		ret = error_nomem(err);
	return ret;
}

int simplify_topo_begin(struct simplify *s, struct error *err)
{
	struct simplify_list tips = {NULL, 0, 0};
	uint32_t c;
	int ret = 0;

	s->topo = mem_calloc(1, sizeof(*s->topo));
	if (!s->topo)
		return error_nomem(err);
	s->topo->generation = HISTORY_GENERATION_UNKNOWN;
	s->topo->ready.by_date = s->o.order == SIMPLIFY_ORDER_DATE;
	while (!ret && simplify_dequeue(s, &c))
		ret = simplify_list_add(&tips, c);
	ret = ret < 0 ? error_nomem(err) : add_tips(s, &tips, err);
	free(tips.items);
	return ret;
}

int simplify_topo_next(struct simplify *s, uint32_t *c, struct error *err)
{
	struct simplify_topo *t = s->topo;

	if (!simplify_ready_pop(&t->ready, c))
		return 0;
	for (uint32_t i = 0; i < simplify_node(s, *c)->parent_nr; i++) {
		uint32_t p = simplify_node_parents(s, *c)[i];
		int ret = 0;

		if (generation_of(s, p) < t->generation) {
			t->generation = generation_of(s, p);
			ret = count_to(s, t->generation, err);
		}
		if (ret < 0)
			return ret;
		if (--t->children[p] == 1 &&
		    simplify_ready_push(&t->ready, s, p) < 0)
			return error_nomem(err);
	}
	return 1;
}

void simplify_topo_end(struct simplify *s)
{
	if (!s->topo)
		return;
	heap_release(&s->topo->explore);
	heap_release(&s->topo->count);
	free(s->topo->children);
	simplify_ready_release(&s->topo->ready);
	free(s->topo);
}
