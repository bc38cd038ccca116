/* SPDX-License-Identifier: MIT */
/*
 * The walk of simplified history: by date, newest first. Commits that haves
 * reach become uninteresting.
 *
 * With haves, or for an order that needs all commits, the walk lists all
 * commits before any commit is returned. The walk ends when all queued commits
 * are uninteresting and none of them can reach a listed commit. The generation
 * numbers of the commit-graph tell whether a commit can be reached
 * (walk/walk-end.h). Without generation numbers, the walk ends when it has
 * visited SLOP commits in a row that are older than the last listed commit.
 */
#include "simplify/simplify-parts.h"

/*
 * Used without generation numbers. When only uninteresting commits are queued,
 * the walk continues for some commits, because dates may be wrong. It ends
 * after this number of visits in a row to commits that are older than the last
 * listed one.
 */
#define SLOP 5

/* ---- the queue */

int simplify_enqueue(struct simplify *s, uint32_t c)
{
	struct simplify_node *node = simplify_node(s, c);

	if ((node->flags & SIMPLIFY_SEEN) || s->topo)
		return 0;
	if (heap_push(&s->queue, s->h->commits[c].date, c) < 0)
		return ERR_NOMEM;
	node->flags |= SIMPLIFY_SEEN | SIMPLIFY_QUEUED;
	walk_end_enter(&s->end, c, !(node->flags & SIMPLIFY_UNINTERESTING));
	return 0;
}

bool simplify_dequeue(struct simplify *s, uint32_t *c)
{
	struct simplify_node *node;

	if (!heap_pop(&s->queue, c))
		return false;
	node = simplify_node(s, *c);
	node->flags &= ~(uint32_t)SIMPLIFY_QUEUED;
	walk_end_leave(&s->end, *c, !(node->flags & SIMPLIFY_UNINTERESTING));
	return true;
}

/* ---- uninteresting commits */

static void mark_uninteresting(struct simplify *s, uint32_t c)
{
	struct simplify_node *node = simplify_node(s, c);

	if (node->flags & SIMPLIFY_UNINTERESTING)
		return;
	if (node->flags & SIMPLIFY_QUEUED)
		walk_end_lose(&s->end);
	node->flags |= SIMPLIFY_UNINTERESTING;
}

/*
 * Pushes all parents of commit `c` onto the stack. --first-parent does not
 * apply to commits that haves reach.
 */
static int push_parents(struct simplify *s, uint32_t c)
{
	const struct simplify_node *node = simplify_node(s, c);

	for (uint32_t i = 0; i < node->parent_nr; i++)
		if (simplify_list_add(&s->stack,
				      simplify_node_parents(s, c)[i]) < 0)
			return ERR_NOMEM;
	return 0;
}

/* Makes all loaded ancestors of commit `c` uninteresting. */
static int mark_ancestors(struct simplify *s, uint32_t c)
{
	s->stack.nr = 0;
	if (push_parents(s, c) < 0)
		return ERR_NOMEM;
	while (s->stack.nr) {
		uint32_t p = s->stack.items[--s->stack.nr];

		if (simplify_has(s, p, SIMPLIFY_UNINTERESTING))
			continue;
		mark_uninteresting(s, p);
		if (simplify_has(s, p, SIMPLIFY_LOADED) &&
		    push_parents(s, p) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

/* ---- one commit */

/*
 * Makes all parents of an uninteresting commit uninteresting. A parent may be
 * missing.
 */
static int expand_uninteresting(struct simplify *s, uint32_t c,
				struct error *err)
{
	for (uint32_t i = 0; i < simplify_node(s, c)->parent_nr; i++) {
		uint32_t p = simplify_node_parents(s, c)[i];
		int ret;

		mark_uninteresting(s, p);
		ret = simplify_load(s, p, err);
		if (ret == ERR_NOMEM)
			return ret;
		if (!ret &&
		    (mark_ancestors(s, p) < 0 || simplify_enqueue(s, p) < 0))
			return error_nomem(err);
	}
	return 0;
}

static int expand_parents(struct simplify *s, uint32_t c, struct error *err)
{
	uint32_t on_path = simplify_node(s, c)->flags & SIMPLIFY_ON_PATH;

	for (uint32_t i = 0; i < simplify_node(s, c)->parent_nr; i++) {
		uint32_t p = simplify_node_parents(s, c)[i];
		int ret = simplify_load(s, p, err);

		if (ret < 0)
			return ret;
		simplify_node(s, p)->flags |= on_path;
		if (simplify_enqueue(s, p) < 0)
			return error_nomem(err);
		if (s->o.first_parent)
			break;
	}
	return 0;
}

int simplify_expand(struct simplify *s, uint32_t c, struct error *err)
{
	int ret;

	if (simplify_has(s, c, SIMPLIFY_ADDED))
		return 0;
	simplify_node(s, c)->flags |= SIMPLIFY_ADDED;
	/*
	 * A commit that is not loaded is a parent that was skipped because of
	 * --first-parent.
	 */
	if (!simplify_has(s, c, SIMPLIFY_LOADED))
		return 0;
	if (simplify_has(s, c, SIMPLIFY_UNINTERESTING))
		return expand_uninteresting(s, c, err);
	ret = simplify_commit(s, c, err);
	return ret < 0 ? ret : expand_parents(s, c, err);
}

/* ---- the list */

/*
 * Returns whether generation numbers are known. If so, the walk can be exact
 * and still end soon.
 */
static bool has_generations(const struct simplify *s)
{
	return s->h->graph && !s->h->lacks_generations;
}

/*
 * Walks and lists commits until no commit can join the list, and no listed
 * commit can become uninteresting.
 */
static int make_list(struct simplify *s, struct error *err)
{
	uint64_t date = UINT64_MAX;
	uint32_t c;

	while (simplify_dequeue(s, &c)) {
		int ret = simplify_expand(s, c, err);

		if (ret < 0)
			return ret;
		if (!simplify_has(s, c, SIMPLIFY_UNINTERESTING)) {
			date = s->h->commits[c].date;
			walk_end_select(&s->end, c);
			if (simplify_list_add(&s->list, c) < 0)
				return error_nomem(err);
		} else {
			if (mark_ancestors(s, c) < 0)
				return error_nomem(err);
			if (walk_end_is_settled(&s->end, date,
						has_generations(s)))
				break;
		}
	}
	return 0;
}

/* ---- the ancestry path */

static void mark_through(struct simplify *s, const struct revwalk_tips *tips)
{
	for (size_t i = 0; i < s->o.through_nr; i++)
		simplify_node(s, s->o.through[i])->flags |= SIMPLIFY_MARK;
	for (size_t i = 0; s->o.through_haves && i < tips->have_nr; i++)
		simplify_node(s, tips->haves[i])->flags |= SIMPLIFY_MARK;
}

/*
 * Marks the listed commits that have a marked ancestor. Commits that are
 * uninteresting get no mark, and pass none on. O(listed commits and parents).
 */
static int mark_descendants(struct simplify *s)
{
	int ret = simplify_note_children(s);

	s->stack.nr = 0;
	for (uint32_t c = 0; c < s->node_nr && !ret; c++)
		if (simplify_has(s, c, SIMPLIFY_MARK))
			ret = simplify_list_add(&s->stack, c);
	while (!ret && s->stack.nr) {
		struct simplify_commits children = simplify_children(
			s, s->stack.items[--s->stack.nr]);

		for (size_t i = 0; i < children.nr && !ret; i++) {
			uint32_t c = children.items[i];

			if (simplify_has(s, c,
					 SIMPLIFY_MARK |
						 SIMPLIFY_UNINTERESTING))
				continue;
			simplify_node(s, c)->flags |= SIMPLIFY_MARK;
			ret = simplify_list_add(&s->stack, c);
		}
	}
	simplify_forget_children(s);
	return ret;
}

/*
 * Keeps the ancestry path: makes a listed commit uninteresting if it is neither
 * an ancestor nor a descendant of a commit in `through`. Returns 0 or
 * ERR_NOMEM.
 */
static int keep_path(struct simplify *s)
{
	if (mark_descendants(s) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < s->list.nr; i++)
		if (!simplify_has(s, s->list.items[i],
				  SIMPLIFY_MARK | SIMPLIFY_ON_PATH))
			simplify_node(s, s->list.items[i])->flags |=
				SIMPLIFY_UNINTERESTING;
	for (size_t i = 0; i < s->node_nr; i++)
		s->nodes[i].flags &= ~(uint32_t)SIMPLIFY_MARK;
	return 0;
}

/* ---- the whole */

static int queue_tips(struct simplify *s, const struct revwalk_tips *tips,
		      struct error *err)
{
	int ret = simplify_grow_nodes(s) < 0 ? error_nomem(err) : 0;

	for (size_t i = 0; i < tips->want_nr && !ret; i++)
		ret = simplify_load(s, tips->wants[i], err);
	for (size_t i = 0; i < tips->have_nr && !ret; i++)
		ret = simplify_load(s, tips->haves[i], err);
	for (size_t i = 0; i < s->o.through_nr && !ret; i++)
		ret = simplify_load(s, s->o.through[i], err);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < s->o.through_nr; i++)
		simplify_node(s, s->o.through[i])->flags |= SIMPLIFY_ON_PATH;
	for (size_t i = 0; i < tips->have_nr; i++)
		simplify_node(s, tips->haves[i])->flags |=
			SIMPLIFY_UNINTERESTING | SIMPLIFY_BOTTOM;
	for (size_t i = 0; i < tips->have_nr && !ret; i++)
		ret = mark_ancestors(s, tips->haves[i]);
	for (size_t i = 0; i < tips->want_nr && !ret; i++)
		ret = simplify_enqueue(s, tips->wants[i]);
	for (size_t i = 0; i < tips->have_nr && !ret; i++)
		ret = simplify_enqueue(s, tips->haves[i]);
	return ret < 0 ? error_nomem(err) : 0;
}

int simplify_walk(struct simplify *s, const struct revwalk_tips *tips,
		  struct error *err)
{
	int ret;

	walk_end_init(&s->end, s->h, &s->queue, SLOP);
	ret = queue_tips(s, tips, err);
	if (ret < 0 || !s->is_limited)
		return ret;
	if (s->o.ancestry_path && s->o.through_haves && !tips->have_nr)
		return error_set(err, ERR_INVALID,
				 "--ancestry-path given but there are no "
				 "bottom commits");
	ret = make_list(s, err);
	if (!ret && s->o.ancestry_path) {
		mark_through(s, tips);
		if (keep_path(s) < 0)
			ret = error_nomem(err);
	}
	for (size_t i = 0; !ret && simplify_can_grow_same(s) && i < s->list.nr;
	     i++)
		if (!simplify_has(s, s->list.items[i],
				  SIMPLIFY_UNINTERESTING | SIMPLIFY_TREESAME))
			simplify_update_same(s, s->list.items[i]);
	return ret;
}
