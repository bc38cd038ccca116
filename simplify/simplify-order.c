/* SPDX-License-Identifier: MIT */
/*
 * Sorts commits so that children come before parents, and stores the children
 * of each commit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simplify/simplify-parts.h"

int simplify_ready_push(struct simplify_ready *r, const struct simplify *s,
			uint32_t c)
{
	return r->by_date ? heap_push(&r->heap, s->h->commits[c].date, c)
			  : simplify_list_add(&r->stack, c);
}

bool simplify_ready_pop(struct simplify_ready *r, uint32_t *c)
{
	if (r->by_date)
		return heap_pop(&r->heap, c);
	if (!r->stack.nr)
		return false;
	*c = r->stack.items[--r->stack.nr];
	return true;
}

void simplify_ready_release(struct simplify_ready *r)
{
	heap_release(&r->heap);
	free(r->stack.items);
}

int simplify_ready_tips(struct simplify_ready *r, const struct simplify *s,
			const struct simplify_list *list,
			const uint32_t *children)
{
	for (size_t i = 0; i < list->nr; i++) {
		uint32_t c = list->items[r->by_date ? i : list->nr - 1 - i];

		if (children[c] == 1 && simplify_ready_push(r, s, c) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

/*
 * Returns an array indexed by commit_nr: one more than the number of the
 * commit's children in the list, or 0 if the commit is not in the list. NULL:
 * no memory.
 */
static uint32_t *count_children(const struct simplify *s,
				const struct simplify_list *list)
{
	uint32_t *children = mem_calloc(s->node_nr, sizeof(*children));

	if (!children)
		return NULL;
	for (size_t i = 0; i < list->nr; i++)
		children[list->items[i]] = 1;
	for (size_t i = 0; i < list->nr; i++) {
		uint32_t c = list->items[i];

		for (uint32_t k = 0; k < simplify_node(s, c)->parent_nr; k++) {
			uint32_t p = simplify_node_parents(s, c)[k];

			if (children[p])
				children[p]++;
		}
	}
	return children;
}

/*
 * Records that commit `c` was processed. Pushes each parent of `c` whose
 * children in the list were all processed. Returns 0 or ERR_NOMEM.
 */
static int release_parents(struct simplify_ready *r, const struct simplify *s,
			   uint32_t *children, uint32_t c)
{
	for (uint32_t k = 0; k < simplify_node(s, c)->parent_nr; k++) {
		uint32_t p = simplify_node_parents(s, c)[k];

		if (children[p] && --children[p] == 1 &&
		    simplify_ready_push(r, s, p) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

int simplify_sort(struct simplify *s, struct simplify_list *list, bool by_date)
{
	struct simplify_ready ready = {.by_date = by_date, .heap = HEAP_INIT};
	uint32_t *children = count_children(s, list);
	size_t nr = 0;
	uint32_t c;
	int ret = children ? simplify_ready_tips(&ready, s, list, children)
			   : ERR_NOMEM;

	/*
	 * The items of the list may be overwritten now: only count_children()
	 * and simplify_ready_tips() read them, and both are done.
	 */
	while (!ret && simplify_ready_pop(&ready, &c)) {
		ret = release_parents(&ready, s, children, c);
		list->items[nr++] = c;
	}
	simplify_ready_release(&ready);
	free(children);
	return ret;
}

int simplify_note_children(struct simplify *s)
{
	uint32_t *ends = mem_calloc(s->node_nr + 1, sizeof(*ends));
	uint32_t sum = 0;

	if (!ends)
		return ERR_NOMEM;
	s->child_ends = ends;
	for (size_t i = 0; i < s->list.nr; i++) {
		uint32_t c = s->list.items[i];

		for (uint32_t k = 0; k < simplify_node(s, c)->parent_nr; k++)
			ends[simplify_node_parents(s, c)[k]]++;
	}
	for (size_t i = 0; i <= s->node_nr; i++) {
		uint32_t nr = ends[i];

		ends[i] = sum;
		sum += nr;
	}
	if (mem_grow(&s->children.items, &s->children.alloc, sum,
		     sizeof(*s->children.items)) < 0)
		return ERR_NOMEM;
	s->children.nr = sum;
	/*
	 * The list is read backwards, so the children of a commit are stored in
	 * the reverse order of the list.
	 */
	for (size_t i = s->list.nr; i-- > 0;) {
		uint32_t c = s->list.items[i];

		for (uint32_t k = simplify_node(s, c)->parent_nr; k-- > 0;) {
			uint32_t p = simplify_node_parents(s, c)[k];

			s->children.items[ends[p]++] = c;
		}
	}
	return 0;
}

void simplify_forget_children(struct simplify *s)
{
	free(s->child_ends);
	free(s->children.items);
	s->child_ends = NULL;
	s->children = (struct simplify_list){0};
}

struct simplify_commits simplify_children(const struct simplify *s,
					  uint32_t commit_nr)
{
	uint32_t start;

	if (!s->child_ends)
		return (struct simplify_commits){NULL, 0};
	start = commit_nr ? s->child_ends[commit_nr - 1] : 0;
	return (struct simplify_commits){
		s->children.items + start,
		s->child_ends[commit_nr] - start,
	};
}
