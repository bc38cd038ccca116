/* SPDX-License-Identifier: MIT */
/*
 * --simplify-merges: replaces each commit by its simplification, parents first.
 *
 * Parents that other parents reach are dropped. Parents that are root commits
 * without any of the paths are dropped too. But if a commit is TREESAME to some
 * of its parents, at least one of these parents stays. If a single parent is
 * left and the commit is TREESAME to this parent, the parent replaces the
 * commit.
 */
#include <string.h>

#include "base/mem.h"
#include "simplify/simplify-parts.h"

/* In merging.becomes: the parents of the commit are being simplified. */
#define WAITING (SIMPLIFY_NONE - 1)

struct merging {
	struct simplify *s;
	/*
	 * owned array, indexed by commit_nr: the commit (commit_nr) that
	 * replaces this commit, which may be the commit itself; SIMPLIFY_NONE
	 * or WAITING: not known yet
	 */
	uint32_t *becomes;
	/*
	 * indexed by commit_nr: the generation number in the simplified
	 * history; 0: the commit is not simplified yet, or haves reach it
	 */
	uint32_t *heights;
	/*
	 * indexed by commit_nr: search_nr of the last search that visited the
	 * commit
	 */
	uint32_t *visits;
	size_t becomes_alloc, heights_alloc, visits_alloc;
	/*
	 * number of commits for which `becomes`, `heights` and `visits` have
	 * entries
	 */
	size_t ready_nr;
	uint32_t search_nr;
	struct simplify_list stack;
	/* parents of the merge that is being simplified */
	struct simplify_list parents;
	/* lowest nonzero entry of `heights` for the commits in `parents` */
	uint32_t floor_height;
	/*
	 * lowest generation number of those commits in `parents` that have 0 in
	 * `heights`
	 */
	uint32_t floor_generation;
	/* true: haves reach at least one of the parents */
	bool has_behind;
	struct error *err;
};

/*
 * Makes room for newly loaded commits in the arrays that are indexed by
 * commit_nr. Needed again after each search_behind(), which loads commits that
 * haves reach.
 */
static int grow(struct merging *m)
{
	size_t need = m->s->node_nr;

	if (need <= m->ready_nr)
		return 0;
	if (mem_grow(&m->becomes, &m->becomes_alloc, need,
		     sizeof(*m->becomes)) < 0 ||
	    mem_grow(&m->heights, &m->heights_alloc, need,
		     sizeof(*m->heights)) < 0 ||
	    mem_grow(&m->visits, &m->visits_alloc, need, sizeof(*m->visits)) <
		    0)
		return error_nomem(m->err);
	for (; m->ready_nr < need; m->ready_nr++) {
		m->becomes[m->ready_nr] = SIMPLIFY_NONE;
		m->heights[m->ready_nr] = 0;
		m->visits[m->ready_nr] = 0;
	}
	return 0;
}

/* ---- parents that other parents reach */

static void find_floor(struct merging *m)
{
	m->floor_height = UINT32_MAX;
	m->floor_generation = UINT32_MAX;
	m->has_behind = false;
	for (size_t i = 0; i < m->parents.nr; i++) {
		uint32_t p = m->parents.items[i];
		uint32_t generation = m->s->h->commits[p].generation;

		if (m->heights[p]) {
			if (m->heights[p] < m->floor_height)
				m->floor_height = m->heights[p];
			continue;
		}
		m->has_behind = true;
		if (generation == HISTORY_GENERATION_UNKNOWN ||
		    m->s->h->lacks_generations)
			m->floor_generation = 0;
		else if (generation < m->floor_generation)
			m->floor_generation = generation;
	}
}

/*
 * Returns whether commit `c` certainly has no ancestor among the parents that
 * the search looks for (m->parents).
 */
static bool is_below_floor(const struct merging *m, uint32_t c)
{
	uint32_t generation = m->s->h->commits[c].generation;

	/*
	 * With an ancestry path, commits that are not on the path have 0 in
	 * `heights`, so the comparisons below would prove nothing.
	 */
	if (m->s->o.ancestry_path)
		return false;
	if (m->heights[c])
		return !m->has_behind && m->heights[c] <= m->floor_height;
	return !m->has_behind || (generation != HISTORY_GENERATION_UNKNOWN &&
				  generation <= m->floor_generation);
}

/*
 * Marks commit `c` if it is one of the parents of the merge. Returns 1 if `c`
 * is newly marked, else 0.
 */
static unsigned mark_if_parent(const struct merging *m, uint32_t c)
{
	for (size_t i = 0; i < m->parents.nr; i++) {
		if (m->parents.items[i] != c ||
		    simplify_has(m->s, c, SIMPLIFY_MARK))
			continue;
		simplify_node(m->s, c)->flags |= SIMPLIFY_MARK;
		return 1;
	}
	return 0;
}

/*
 * Visits the parents of commit `c`. Marks each of them that is a parent of the
 * merge. Returns the number of newly marked commits, or a negative error code.
 */
static int search_behind(struct merging *m, uint32_t c)
{
	unsigned found = 0;
	int ret = simplify_load(m->s, c, m->err);

	if (ret == ERR_MISSING && !m->heights[c])
		return 0;
	if (ret < 0 || (ret = grow(m)) < 0)
		return ret;
	for (uint32_t i = simplify_node(m->s, c)->parent_nr; i-- > 0;) {
		uint32_t p = simplify_node_parents(m->s, c)[i];

		if (m->visits[p] == m->search_nr)
			continue;
		m->visits[p] = m->search_nr;
		found += mark_if_parent(m, p);
		if (!is_below_floor(m, p) &&
		    simplify_list_add(&m->stack, p) < 0)
			return error_nomem(m->err);
	}
	return (int)found;
}

/*
 * Marks those parents of a merge that other parents of the merge reach. Returns
 * the number of marked parents, or a negative error code.
 */
static int mark_reached(struct merging *m)
{
	/*
	 * number of parents that may still be marked: all but one, because one
	 * parent always stays
	 */
	size_t left = m->parents.nr - 1;
	int ret = 0;

	find_floor(m);
	for (size_t i = 0; i < m->parents.nr && ret >= 0; i++) {
		m->search_nr++;
		m->stack.nr = 0;
		if (simplify_list_add(&m->stack, m->parents.items[i]) < 0)
			return error_nomem(m->err);
		while (m->stack.nr && left && ret >= 0) {
			ret = search_behind(m, m->stack.items[--m->stack.nr]);
			left -= ret > 0 ? (size_t)ret : 0;
		}
	}
	return ret < 0 ? ret : (int)(m->parents.nr - 1 - left);
}

/*
 * Marks those parents of a merge that are root commits without any of the
 * paths. Returns the number of marked parents.
 */
static int mark_empty_roots(const struct merging *m)
{
	int nr = 0;

	for (size_t i = 0; i < m->parents.nr; i++) {
		struct simplify_node *p = simplify_node(m->s,
							m->parents.items[i]);

		if (p->parent_nr || !(p->flags & SIMPLIFY_TREESAME) ||
		    (p->flags & SIMPLIFY_MARK))
			continue;
		p->flags |= SIMPLIFY_MARK;
		nr++;
	}
	return nr;
}

/*
 * Keeps at least one of the parents to which commit `c` is TREESAME. If all
 * these parents are marked to be dropped, unmarks the first of them. Returns 1
 * if a parent was unmarked, else 0.
 */
static int spare_same(const struct merging *m, uint32_t c)
{
	const struct simplify_node *node = simplify_node(m->s, c);
	uint32_t first = SIMPLIFY_NONE;

	for (uint32_t i = 0; i < node->parent_nr; i++) {
		uint32_t p = m->parents.items[i];

		if (node->same == SIMPLIFY_NONE || !m->s->same[node->same + i])
			continue;
		if (!simplify_has(m->s, p, SIMPLIFY_MARK))
			return 0;
		if (first == SIMPLIFY_NONE)
			first = p;
	}
	if (first == SIMPLIFY_NONE)
		return 0;
	simplify_node(m->s, first)->flags &= ~(uint32_t)SIMPLIFY_MARK;
	return 1;
}

static void drop_marked(struct merging *m, uint32_t c)
{
	struct simplify_node *node = simplify_node(m->s, c);
	uint32_t *parents = simplify_node_parents(m->s, c);
	uint32_t kept = 0;

	for (size_t i = 0; i < m->parents.nr; i++) {
		uint32_t p = m->parents.items[i];

		if (!simplify_has(m->s, p, SIMPLIFY_MARK)) {
			parents[kept++] = p;
			continue;
		}
		simplify_node(m->s, p)->flags &= ~(uint32_t)SIMPLIFY_MARK;
		node->parent_nr--;
		simplify_drop_same(m->s, c, kept);
	}
	if (!(node->flags & SIMPLIFY_TREESAME))
		simplify_update_same(m->s, c);
}

/* Drops redundant parents of commit `c`. Returns 0 or a negative error code. */
static int drop_needless(struct merging *m, uint32_t c)
{
	int marked;

	m->parents.nr = 0;
	for (uint32_t i = 0; i < simplify_node(m->s, c)->parent_nr; i++)
		if (simplify_list_add(&m->parents,
				      simplify_node_parents(m->s, c)[i]) < 0)
			return error_nomem(m->err);
	marked = mark_reached(m);
	if (marked < 0)
		return marked;
	marked += mark_empty_roots(m);
	if (marked)
		marked -= spare_same(m, c);
	if (marked)
		drop_marked(m, c);
	return 0;
}

/* ---- commit by commit */

/*
 * Pushes the parents of commit `c` that are not simplified yet onto `todo`.
 * Returns 1 if there are any, 0 if not, or a negative error code. A parent that
 * is WAITING is an error: it waits for `c`, so it is its own ancestor. Replace
 * refs can make such a history.
 */
static int needs_parents(struct merging *m, struct simplify_list *todo,
			 uint32_t c)
{
	const struct simplify_node *node = simplify_node(m->s, c);
	bool waits = false;

	for (uint32_t i = 0; i < node->parent_nr; i++) {
		uint32_t p = simplify_node_parents(m->s, c)[i];

		if (m->becomes[p] == WAITING)
			return error_set(m->err, ERR_CORRUPT,
					 "a commit is its own ancestor");
		if (m->becomes[p] == SIMPLIFY_NONE) {
			if (simplify_list_add(todo, p) < 0)
				return error_nomem(m->err);
			waits = true;
		}
		if (m->s->o.first_parent)
			break;
	}
	if (waits)
		m->becomes[c] = WAITING;
	return waits;
}

/*
 * Replaces commit `c`, whose parents are simplified already, by its
 * simplification.
 */
static int replace(struct merging *m, uint32_t c)
{
	struct simplify *s = m->s;
	uint32_t nr, sole;

	nr = simplify_node(s, c)->parent_nr;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t *p = &simplify_node_parents(s, c)[i];

		*p = m->becomes[*p];
		if (s->o.first_parent)
			break;
	}
	nr = s->o.first_parent ? 1 : (uint32_t)simplify_unite_parents(s, c);
	if (nr > 1) {
		int ret = drop_needless(m, c);

		if (ret < 0)
			return ret;
	}
	sole = simplify_sole_parent(s, c);
	if (!simplify_has(s, c, SIMPLIFY_TREESAME) || sole == SIMPLIFY_NONE ||
	    (s->o.show_pulls && simplify_has(s, c, SIMPLIFY_PULL)))
		m->becomes[c] = c;
	else
		m->becomes[c] = m->becomes[sole];
	for (uint32_t i = 0; i < simplify_node(s, c)->parent_nr; i++) {
		uint32_t p = simplify_node_parents(s, c)[i];

		if (m->heights[p] > m->heights[c])
			m->heights[c] = m->heights[p];
	}
	m->heights[c]++;
	return 0;
}

static int replace_with_parents(struct merging *m, struct simplify_list *todo,
				uint32_t c)
{
	int ret = 0;

	todo->nr = 0;
	if (simplify_list_add(todo, c) < 0)
		return error_nomem(m->err);
	while (todo->nr && ret >= 0) {
		uint32_t at = todo->items[todo->nr - 1];

		if (m->becomes[at] < WAITING) {
			todo->nr--;
			continue;
		}
		if (simplify_has(m->s, at, SIMPLIFY_UNINTERESTING) ||
		    !simplify_node(m->s, at)->parent_nr) {
			m->becomes[at] = at;
			m->heights[at] = !simplify_has(m->s, at,
						       SIMPLIFY_UNINTERESTING);
			continue;
		}
		ret = needs_parents(m, todo, at);
		if (!ret)
			ret = replace(m, at);
	}
	return ret < 0 ? ret : 0;
}

int simplify_merges(struct simplify *s, struct error *err)
{
	struct merging m = {.s = s, .err = err};
	struct simplify_list todo = {NULL, 0, 0};
	size_t kept = 0;
	int ret = grow(&m);

	for (size_t i = s->list.nr; i-- > 0 && !ret;)
		ret = replace_with_parents(&m, &todo, s->list.items[i]);
	for (size_t i = 0; i < s->list.nr && !ret; i++)
		if (m.becomes[s->list.items[i]] == s->list.items[i])
			s->list.items[kept++] = s->list.items[i];
	s->list.nr = kept;
	free(todo.items);
	free(m.stack.items);
	free(m.parents.items);
	free(m.becomes);
	free(m.heights);
	free(m.visits);
	return ret;
}
