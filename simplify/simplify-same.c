/* SPDX-License-Identifier: MIT */
/*
 * Compares the tree of a commit with its parents' trees at the paths, to find
 * out whether the commit is TREESAME.
 */
#include <string.h>

#include "base/mem.h"
#include "simplify/simplify-parts.h"

#define STOPPED 1

/*
 * The kinds of changes found at the paths of two trees, as bits of enum
 * path_change.
 */
struct gathered {
	unsigned changes;
	/*
	 * true: the comparison goes on while all changes are additions; false:
	 * it stops at the first change
	 */
	bool all_added;
};

static int gather(void *ctx, const char *path, size_t len,
		  enum path_change change)
{
	struct gathered *g = ctx;

	g->changes |= change;
	return g->all_added && g->changes == PATH_ADDED ? 0 : STOPPED;
}

/*
 * Sets *tree_pos to the tree of commit `c`. For SIMPLIFY_NONE, sets it to a
 * tree without entries.
 */
static int tree_of(struct simplify *s, uint32_t c, uint32_t *tree_pos,
		   struct error *err)
{
	*tree_pos = PATH_CHANGES_NO_TREE;
	return c == SIMPLIFY_NONE ? 0 : history_tree(s->h, c, tree_pos, err);
}

/*
 * Compares the trees of commit `c` and of `parent` (SIMPLIFY_NONE: no parent).
 * Sets *changes to bits of enum path_change, or to 0 if the trees do not differ
 * at the paths.
 */
static int compare_trees(struct simplify *s, uint32_t c, uint32_t parent,
			 unsigned *changes, struct error *err)
{
	struct gathered g = {0, s->o.remove_empty};
	uint32_t new_tree, old_tree;
	int ret = tree_of(s, c, &new_tree, err);

	*changes = 0;
	if (!ret)
		ret = tree_of(s, parent, &old_tree, err);
	if (ret < 0)
		return ret;
	if (s->look && !s->o.remove_empty) {
		ret = path_look_differs(s->look, new_tree, old_tree, err);
		*changes = ret > 0 ? PATH_MODIFIED : 0;
		return ret < 0 ? ret : 0;
	}
	ret = path_changes_run(s->changes, new_tree, old_tree, gather, &g, err);
	*changes = g.changes;
	return ret < 0 ? ret : 0;
}

/*
 * Compares commit `c` with its first parent (SIMPLIFY_NONE: no parent). The
 * changed-path filter may make comparing trees unnecessary.
 */
static int compare_first(struct simplify *s, uint32_t c, uint32_t parent,
			 unsigned *changes, struct error *err)
{
	enum path_filters_answer answer = PATH_FILTERS_ABSENT;
	uint32_t graph_pos;
	int ret;

	*changes = 0;
	if (s->filters.graph && history_graph_pos(s->h, c, &graph_pos))
		answer = path_filters_ask(&s->filters, graph_pos);
	if (answer == PATH_FILTERS_NO)
		return 0;
	ret = compare_trees(s, c, parent, changes, err);
	if (!ret && !*changes && answer == PATH_FILTERS_MAYBE)
		s->filters.false_nr++;
	return ret;
}

/* Compares a commit without parents with a tree without entries. */
static int compare_root(struct simplify *s, uint32_t c, struct error *err)
{
	unsigned changes;
	int ret = compare_first(s, c, SIMPLIFY_NONE, &changes, err);

	if (!ret && !changes)
		simplify_node(s, c)->flags |= SIMPLIFY_TREESAME;
	return ret;
}

/* ---- merges */

/*
 * Allocates the TREESAME flags of a merge, one for each parent. All flags are
 * clear.
 */
static int keep_same(struct simplify *s, uint32_t c)
{
	struct simplify_node *node = simplify_node(s, c);
	size_t need = s->same_nr + node->parent_nr;

	if (mem_grow(&s->same, &s->same_alloc, need, sizeof(*s->same)) < 0)
		return ERR_NOMEM;
	memset(s->same + s->same_nr, 0, node->parent_nr * sizeof(*s->same));
	node->same = (uint32_t)s->same_nr;
	s->same_nr = need;
	return 0;
}

/*
 * How a merge differs from its parents: the number of relevant parents, whether
 * the merge differs from at least one relevant parent, and whether it differs
 * from at least one irrelevant parent.
 */
struct tally {
	uint32_t relevant_nr;
	bool relevant_change, irrelevant_change;
};

static void tally_add(struct tally *t, const struct simplify *s, uint32_t p,
		      bool is_same)
{
	bool is_relevant = simplify_is_relevant(s, p);

	t->relevant_nr += is_relevant;
	if (is_relevant)
		t->relevant_change |= !is_same;
	else
		t->irrelevant_change |= !is_same;
}

/*
 * Returns whether a merge is TREESAME. Irrelevant parents decide only if there
 * are no relevant parents.
 */
static bool tally_is_same(const struct tally *t)
{
	return t->relevant_nr ? !t->relevant_change : !t->irrelevant_change;
}

void simplify_update_same(struct simplify *s, uint32_t c)
{
	struct simplify_node *node = simplify_node(s, c);
	struct tally t = {0};

	if (node->parent_nr < 2 || node->same == SIMPLIFY_NONE)
		return;
	for (uint32_t i = 0; i < node->parent_nr; i++)
		tally_add(&t, s, simplify_node_parents(s, c)[i],
			  s->same[node->same + i]);
	node->flags &= ~(uint32_t)SIMPLIFY_TREESAME;
	if (tally_is_same(&t))
		node->flags |= SIMPLIFY_TREESAME;
}

void simplify_drop_same(struct simplify *s, uint32_t c, size_t i)
{
	struct simplify_node *node = simplify_node(s, c);
	bool *same;

	if (node->same == SIMPLIFY_NONE)
		return;
	same = s->same + node->same;
	memmove(same + i, same + i + 1, node->parent_nr - i);
	if (node->parent_nr != 1)
		return;
	node->flags &= ~(uint32_t)SIMPLIFY_TREESAME;
	if (same[0] && !s->o.sparse)
		node->flags |= SIMPLIFY_TREESAME;
	node->same = SIMPLIFY_NONE;
}

int simplify_unite_parents(struct simplify *s, uint32_t c)
{
	struct simplify_node *node = simplify_node(s, c);
	uint32_t *parents = simplify_node_parents(s, c);
	uint32_t kept = 0, nr = node->parent_nr;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t p = parents[i];

		if (!simplify_has(s, p, SIMPLIFY_MARK)) {
			simplify_node(s, p)->flags |= SIMPLIFY_MARK;
			parents[kept++] = p;
			continue;
		}
		node->parent_nr--;
		simplify_drop_same(s, c, kept);
	}
	for (uint32_t i = 0; i < kept; i++)
		simplify_node(s, parents[i])->flags &= ~(uint32_t)SIMPLIFY_MARK;
	return (int)kept;
}

/* ---- one commit */

/* Drops all parents of a merge except parent `i`. */
static void follow(struct simplify *s, uint32_t c, uint32_t i)
{
	struct simplify_node *node = simplify_node(s, c);

	node->first_parent += i;
	node->parent_nr = 1;
	/*
	 * --show-pulls shows a merge that differs from its first parent and is
	 * TREESAME to another one.
	 */
	if (!s->o.show_pulls || !i)
		node->flags |= SIMPLIFY_TREESAME;
}

/*
 * Implements --remove-empty. Called if a child of commit `p` has added all
 * files at the paths. If the tree of `p` has no file at the paths, the parents
 * of `p` are dropped.
 */
static int cut_if_empty(struct simplify *s, uint32_t p, struct error *err)
{
	unsigned changes;
	int ret = compare_trees(s, p, SIMPLIFY_NONE, &changes, err);

	if (!ret && !changes)
		simplify_node(s, p)->parent_nr = 0;
	return ret;
}

/*
 * Compares commit `c` with its parent number `i`, and counts the result in *t.
 * Returns 1 if only this parent is followed, 0 if not, or a negative error
 * code.
 */
static int compare_parent(struct simplify *s, uint32_t c, uint32_t i,
			  struct tally *t, struct error *err)
{
	uint32_t p = simplify_node_parents(s, c)[i];
	struct simplify_node *node;
	unsigned changes;
	int ret = simplify_load(s, p, err);

	if (ret < 0)
		return ret;
	ret = i ? compare_trees(s, c, p, &changes, err)
		: compare_first(s, c, p, &changes, err);
	if (ret < 0)
		return ret;
	node = simplify_node(s, c);
	if (!changes && !s->o.full_history && simplify_is_relevant(s, p)) {
		follow(s, c, i);
		return 1;
	}
	tally_add(t, s, p, !changes);
	if (!changes && node->same != SIMPLIFY_NONE)
		s->same[node->same + i] = true;
	if (changes && !i)
		node->flags |= SIMPLIFY_PULL;
	if (changes == PATH_ADDED && s->o.remove_empty)
		return cut_if_empty(s, p, err);
	return 0;
}

/*
 * Returns whether a TREESAME flag for each parent of commit `c` is kept.
 * --simplify-merges needs the flags. They are also needed for a merge whose
 * parents may become uninteresting at the end of the walk.
 */
static bool keeps_same(const struct simplify *s, uint32_t c)
{
	return simplify_node(s, c)->parent_nr > 1 && !s->o.first_parent &&
	       (s->o.merges || (s->is_limited && simplify_can_grow_same(s)));
}

int simplify_commit(struct simplify *s, uint32_t c, struct error *err)
{
	struct tally t = {0};
	uint32_t nr = simplify_node(s, c)->parent_nr;
	int ret = 0;

	if (!s->o.paths)
		return 0;
	if (!nr)
		return compare_root(s, c, err);
	if (s->o.sparse && nr == 1)
		return 0;
	if (keeps_same(s, c) && keep_same(s, c) < 0)
		return error_nomem(err);
	if (s->o.first_parent)
		nr = 1;
	for (uint32_t i = 0; i < nr && !ret; i++)
		ret = compare_parent(s, c, i, &t, err);
	/*
	 * The number of relevant parents decides whether the merge is TREESAME.
	 * With --first-parent, stock Git counts only the first two parents of a
	 * merge for this number.
	 */
	if (s->o.first_parent && simplify_node(s, c)->parent_nr > 1)
		t.relevant_nr += simplify_is_relevant(
			s, simplify_node_parents(s, c)[1]);
	if (!ret && tally_is_same(&t))
		simplify_node(s, c)->flags |= SIMPLIFY_TREESAME;
	return ret < 0 ? ret : 0;
}
