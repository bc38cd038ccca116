/* SPDX-License-Identifier: MIT */
/* Simplified history: prepares a walk from the options. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simplify/simplify-parts.h"

#define TREE_CACHE ((size_t)48 << 20) /* in bytes */

/*
 * Makes s->changes, which compares trees. With changed-path filters, few pairs
 * of trees must be compared. For few pairs, s->look (path-look.c) is faster, so
 * s->look is made too if all patterns are plain names.
 */
static int open_trees(struct simplify *s, struct error *err)
{
	struct objspace *space = s->h->space;
	int ret;

	if (!s->o.paths)
		return 0;
	ret = path_filters_init(&s->filters, s->h->graph,
				&space->odb->repo->config, s->o.paths, err);
	if (ret < 0)
		return ret;
	if (s->filters.graph && path_look_fits(s->o.paths)) {
		s->look = path_look_new(space, s->o.paths, TREE_CACHE);
		if (!s->look)
			return error_nomem(err);
	}
	s->changes = path_changes_new(space, TREE_CACHE);
	if (!s->changes)
		return error_nomem(err);
	path_changes_limit(s->changes, s->o.paths);
	return 0;
}

/*
 * Returns whether commits can be returned in order before the walk is complete.
 * This is possible without haves, and without options that need all commits.
 * For orders other than SIMPLIFY_ORDER_WALK there are two more conditions: a
 * commit-graph with generation numbers, and no --first-parent. With
 * --first-parent the walk does not read the parents that it skips, so it does
 * not know their generation numbers.
 */
static bool can_stream(const struct simplify *s,
		       const struct revwalk_tips *tips)
{
	if (tips->have_nr || s->o.children || s->o.merges || s->o.ancestry_path)
		return false;
	if (s->o.order == SIMPLIFY_ORDER_WALK)
		return true;
	return s->h->graph && !s->o.first_parent &&
	       commit_graph_has_generations(s->h->graph);
}

static int prepare(struct simplify *s, const struct revwalk_tips *tips,
		   struct error *err)
{
	int ret = open_trees(s, err);

	if (!ret)
		ret = simplify_walk(s, tips, err);
	if (!ret && s->o.order != SIMPLIFY_ORDER_WALK && !s->is_limited)
		return simplify_topo_begin(s, err);
	if (!ret && s->o.order != SIMPLIFY_ORDER_WALK &&
	    simplify_sort(s, &s->list, s->o.order == SIMPLIFY_ORDER_DATE) < 0)
		ret = error_nomem(err);
	if (!ret && s->o.merges && s->o.paths)
		ret = simplify_merges(s, err);
	if (!ret && s->o.children && simplify_note_children(s) < 0)
		ret = error_nomem(err);
	return ret;
}

int simplify_new(struct simplify **out, struct history *h,
		 const struct revwalk_tips *tips,
		 const struct simplify_options *options, struct error *err)
{
	struct simplify *s = mem_calloc(1, sizeof(*s));
	int ret;

	*out = NULL;
	if (!s)
		return error_nomem(err);
	s->h = h;
	s->o = *options;
	s->is_limited = !can_stream(s, tips);
	s->last = SIMPLIFY_NONE;
	s->skip_left = options->skip;
	s->max_left = options->max;
	ret = prepare(s, tips, err);
	if (ret < 0) {
		simplify_free(s);
		return ret;
	}
	*out = s;
	return 0;
}

void simplify_free(struct simplify *s)
{
	if (!s)
		return;
	free(s->nodes);
	free(s->parents.items);
	free(s->same);
	path_changes_free(s->changes);
	path_look_free(s->look);
	simplify_topo_end(s);
	path_filters_release(&s->filters);
	heap_release(&s->queue);
	free(s->stack.items);
	free(s->list.items);
	simplify_forget_children(s);
	free(s->behind.items);
	free(s->boundary.items);
	free(s->all.items);
	free(s);
}
