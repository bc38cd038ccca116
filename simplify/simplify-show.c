/* SPDX-License-Identifier: MIT */
/*
 * Chooses the walked commits that are returned, rewrites their parents, and
 * returns the boundary.
 */
#include <string.h>

#include "base/mem.h"
#include "simplify/simplify-parts.h"

/* ---- which */

/*
 * Returns whether a merge has several relevant parents. If so, the merge
 * connects several lines of the history that is shown.
 */
static bool ties(const struct simplify *s, uint32_t c)
{
	const struct simplify_node *node = simplify_node(s, c);
	unsigned nr = 0;

	for (uint32_t i = 0; i < node->parent_nr; i++)
		nr += simplify_is_relevant(s, simplify_node_parents(s, c)[i]);
	return nr > 1;
}

static bool is_shown(const struct simplify *s, uint32_t c)
{
	uint32_t parent_nr = simplify_node(s, c)->parent_nr;

	if (simplify_has(s, c, SIMPLIFY_SHOWN | SIMPLIFY_UNINTERESTING))
		return false;
	if (s->o.unpacked &&
	    objspace_is_packed(s->h->space, s->h->commits[c].obj_pos))
		return false;
	if (parent_nr < s->o.min_parents || parent_nr > s->o.max_parents)
		return false;
	if (!s->o.paths || s->o.sparse ||
	    !simplify_has(s, c, SIMPLIFY_TREESAME))
		return true;
	if (!s->o.rewrite)
		return false;
	if (s->o.show_pulls && simplify_has(s, c, SIMPLIFY_PULL))
		return true;
	return ties(s, c);
}

/* ---- with which parents */

/*
 * Replaces *p by its nearest ancestor that is shown or has several parents.
 * Commits that are TREESAME to their only relevant parent are skipped. *p
 * becomes SIMPLIFY_NONE if there is no such ancestor. Returns 0 or a negative
 * error code.
 */
static int rewrite_parent(struct simplify *s, uint32_t *p, struct error *err)
{
	for (;;) {
		uint32_t sole;
		int ret = s->is_limited ? 0 : simplify_expand(s, *p, err);

		if (ret < 0)
			return ret;
		if (simplify_has(s, *p, SIMPLIFY_UNINTERESTING) ||
		    !simplify_has(s, *p, SIMPLIFY_TREESAME))
			return 0;
		if (!simplify_node(s, *p)->parent_nr) {
			*p = SIMPLIFY_NONE;
			return 0;
		}
		sole = simplify_sole_parent(s, *p);
		if (sole == SIMPLIFY_NONE)
			return 0;
		*p = sole;
	}
}

static int rewrite_parents(struct simplify *s, uint32_t c, struct error *err)
{
	uint32_t kept = 0, nr = simplify_node(s, c)->parent_nr;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t p = simplify_node_parents(s, c)[i];
		int ret = rewrite_parent(s, &p, err);

		if (ret < 0)
			return ret;
		if (p != SIMPLIFY_NONE)
			simplify_node_parents(s, c)[kept++] = p;
	}
	simplify_node(s, c)->parent_nr = kept;
	simplify_unite_parents(s, c);
	return 0;
}

/* ---- one after the other */

/*
 * Sets *c to the next commit that is shown. Returns 1 if there is a commit, 0
 * at the end, or a negative error code. Ignores the options `skip` and `max`.
 */
static int next_shown(struct simplify *s, uint32_t *c, struct error *err)
{
	for (;;) {
		int ret = 0;

		if (s->is_limited) {
			if (s->list_at == s->list.nr)
				return 0;
			*c = s->list.items[s->list_at++];
		} else if (s->topo) {
			ret = simplify_topo_next(s, c, err);
			if (!ret)
				return 0;
		} else {
			if (!simplify_dequeue(s, c))
				return 0;
			ret = simplify_expand(s, *c, err);
		}
		if (ret < 0)
			return ret;
		if (!is_shown(s, *c))
			continue;
		if (s->o.paths && !s->o.sparse && s->o.rewrite)
			ret = rewrite_parents(s, *c, err);
		return ret < 0 ? ret : 1;
	}
}

/* Works like next_shown(), but obeys the options `skip` and `max`. */
static int next_counted(struct simplify *s, uint32_t *c, struct error *err)
{
	int ret = 1;

	if (!s->max_left)
		return 0;
	for (; ret > 0 && s->skip_left; s->skip_left--)
		ret = next_shown(s, c, err);
	if (ret > 0)
		ret = next_shown(s, c, err);
	if (s->max_left != UINT64_MAX)
		s->max_left--;
	return ret;
}

/*
 * Adds the parents of a returned commit to s->behind, since they may be
 * boundary commits.
 */
static int note_parents(struct simplify *s, uint32_t c, struct error *err)
{
	for (uint32_t i = 0; i < simplify_node(s, c)->parent_nr; i++) {
		uint32_t p = simplify_node_parents(s, c)[i];

		if (simplify_has(s, p, SIMPLIFY_CHILD | SIMPLIFY_SHOWN))
			continue;
		simplify_node(s, p)->flags |= SIMPLIFY_CHILD;
		if (simplify_list_add(&s->behind, p) < 0)
			return error_nomem(err);
	}
	return 0;
}

/*
 * Makes the list of boundary commits. A boundary commit was not returned
 * itself, but is a parent of a commit that was returned. The parent that was
 * added to s->behind last comes first.
 */
static int make_boundary(struct simplify *s, struct error *err)
{
	size_t kept = 0;

	for (size_t i = s->behind.nr; i-- > 0;) {
		uint32_t c = s->behind.items[i];

		if (simplify_has(s, c, SIMPLIFY_SHOWN | SIMPLIFY_BOUNDARY))
			continue;
		simplify_node(s, c)->flags |= SIMPLIFY_BOUNDARY;
		if (simplify_list_add(&s->boundary, c) < 0)
			return error_nomem(err);
		kept++;
	}
	s->has_boundary = true;
	return kept && simplify_sort(s, &s->boundary,
				     s->o.order == SIMPLIFY_ORDER_DATE) < 0
		       ? error_nomem(err)
		       : 0;
}

static int next_forward(struct simplify *s, uint32_t *c, struct error *err)
{
	int ret = s->has_boundary ? 0 : next_counted(s, c, err);

	if (ret < 0)
		return ret;
	if (ret) {
		simplify_node(s, *c)->flags |= SIMPLIFY_SHOWN;
		ret = s->o.boundary ? note_parents(s, *c, err) : 0;
		return ret < 0 ? ret : 1;
	}
	if (s->o.boundary && !s->has_boundary)
		ret = make_boundary(s, err);
	if (ret < 0 || s->boundary_at == s->boundary.nr)
		return ret;
	*c = s->boundary.items[s->boundary_at++];
	simplify_node(s, *c)->flags |= SIMPLIFY_SHOWN;
	return 1;
}

static int gather_all(struct simplify *s, struct error *err)
{
	uint32_t c;
	int ret;

	while ((ret = next_forward(s, &c, err)) > 0)
		if (simplify_list_add(&s->all, c) < 0)
			return error_nomem(err);
	s->has_all = true;
	return ret;
}

int simplify_next(struct simplify *s, uint32_t *commit_nr, struct error *err)
{
	int ret;

	if (!s->o.reverse) {
		if (s->last != SIMPLIFY_NONE && !s->o.keep_parents)
			simplify_node(s, s->last)->parent_nr = 0;
		ret = next_forward(s, commit_nr, err);
		s->last = ret > 0 ? *commit_nr : SIMPLIFY_NONE;
		return ret;
	}
	ret = s->has_all ? 0 : gather_all(s, err);
	if (ret < 0 || !s->all.nr)
		return ret;
	*commit_nr = s->all.items[--s->all.nr];
	return 1;
}

/* ---- properties of returned commits */

struct simplify_commits simplify_parents(const struct simplify *s,
					 uint32_t commit_nr)
{
	return (struct simplify_commits){
		simplify_node_parents(s, commit_nr),
		simplify_node(s, commit_nr)->parent_nr,
	};
}

bool simplify_is_boundary(const struct simplify *s, uint32_t commit_nr)
{
	return simplify_has(s, commit_nr, SIMPLIFY_BOUNDARY);
}

int simplify_edges(struct simplify *s, uint32_t **edges, size_t *nr)
{
	struct simplify_list out = {NULL, 0, 0};
	int ret = 0;

	for (size_t i = 0; i < s->list.nr && !ret; i++) {
		uint32_t c = s->list.items[i];

		if (simplify_has(s, c, SIMPLIFY_UNINTERESTING)) {
			ret = simplify_list_add(&out, c);
			continue;
		}
		for (uint32_t k = 0; k < simplify_node(s, c)->parent_nr && !ret;
		     k++) {
			uint32_t p = simplify_node_parents(s, c)[k];

			if (simplify_has(s, p, SIMPLIFY_UNINTERESTING))
				ret = simplify_list_add(&out, p);
		}
	}
	*edges = out.items;
	*nr = out.nr;
	return ret;
}

const struct path_filters *simplify_filters(const struct simplify *s)
{
	return &s->filters;
}
