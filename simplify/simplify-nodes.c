/* SPDX-License-Identifier: MIT */
/*
 * Stores the commits that a simplification has loaded, and for each commit the
 * parents that remain after simplification. Also implements lists of commits.
 */
#include <string.h>

#include "base/mem.h"
#include "simplify/simplify-parts.h"

int simplify_list_add(struct simplify_list *list, uint32_t c)
{
	if (mem_grow(&list->items, &list->alloc, list->nr + 1,
		     sizeof(*list->items)) < 0)
		return ERR_NOMEM;
	list->items[list->nr++] = c;
	return 0;
}

int simplify_grow_nodes(struct simplify *s)
{
	if (mem_grow(&s->nodes, &s->node_alloc, s->h->nr, sizeof(*s->nodes)) <
	    0)
		return ERR_NOMEM;
	if (s->h->nr > s->node_nr)
		memset(s->nodes + s->node_nr, 0,
		       (s->h->nr - s->node_nr) * sizeof(*s->nodes));
	s->node_nr = s->h->nr;
	return 0;
}

int simplify_load(struct simplify *s, uint32_t c, struct error *err)
{
	const struct history_commit *commit;
	struct simplify_node *node;
	int ret;

	if (c < s->node_nr && simplify_has(s, c, SIMPLIFY_LOADED))
		return 0;
	ret = history_parse(s->h, c, err);
	if (ret < 0)
		return ret;
	if (simplify_grow_nodes(s) < 0)
		return error_nomem(err);
	commit = &s->h->commits[c];
	node = simplify_node(s, c);
	node->first_parent = (uint32_t)s->parents.nr;
	node->parent_nr = commit->parent_nr;
	node->same = SIMPLIFY_NONE;
	node->flags |= SIMPLIFY_LOADED;
	for (uint32_t i = 0; i < node->parent_nr; i++)
		if (simplify_list_add(&s->parents,
				      history_parents(s->h, c)[i]) < 0)
			return error_nomem(err);
	return 0;
}

uint32_t simplify_sole_parent(const struct simplify *s, uint32_t c)
{
	const struct simplify_node *node = simplify_node(s, c);
	const uint32_t *parents = simplify_node_parents(s, c);
	uint32_t sole = SIMPLIFY_NONE;

	if (node->parent_nr == 1 || (node->parent_nr && s->o.first_parent))
		return parents[0];
	for (uint32_t i = 0; i < node->parent_nr; i++) {
		if (!simplify_is_relevant(s, parents[i]))
			continue;
		if (sole != SIMPLIFY_NONE)
			return SIMPLIFY_NONE;
		sole = parents[i];
	}
	return sole;
}
