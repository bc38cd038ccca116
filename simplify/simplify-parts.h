/* SPDX-License-Identifier: MIT */
/*
 * Types and functions that the parts of simplify.h share:
 *
 *   simplify-nodes.c   commits and their parents; lists of commits
 *   simplify-walk.c    the walk by date: uninteresting commits, the whole list
 *   simplify-same.c    TREESAME: to which parents a merge is followed
 *   simplify-order.c   children before parents; children of commits
 *   simplify-topo.c    children before parents while the walk continues
 *   simplify-merges.c  --simplify-merges
 *   simplify-show.c    which commits are shown, rewritten parents, the boundary
 *   path-look.c        whether named paths differ between two trees
 *
 * struct simplify stores, for each commit, the parents that remain after
 * simplification. The parents in the history do not change.
 */
#ifndef SIMPLIFY_SIMPLIFY_PARTS_H
#define SIMPLIFY_SIMPLIFY_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"
#include "graph-write/path-changes.h"
#include "names/pathspec.h"
#include "simplify/path-filters.h"
#include "simplify/simplify.h"
#include "trees/objspace.h"
#include "walk/walk-end.h"

enum {
	/* the commit was put into the queue, now or before */
	SIMPLIFY_SEEN = 1 << 0,
	/* the commit is in the queue now */
	SIMPLIFY_QUEUED = 1 << 1,
	/* haves reach the commit, or it is not on the ancestry path */
	SIMPLIFY_UNINTERESTING = 1 << 2,
	SIMPLIFY_BOTTOM = 1 << 3, /* the commit is a have */
	/* the commit's parents are in s->parents */
	SIMPLIFY_LOADED = 1 << 4,
	/* the parents of the commit were queued */
	SIMPLIFY_ADDED = 1 << 5,
	SIMPLIFY_TREESAME = 1 << 6,
	/* the merge is TREESAME to a parent, but not to its first parent */
	SIMPLIFY_PULL = 1 << 7,
	/*
	 * one of the commits in `through` (--ancestry-path) reaches this commit
	 */
	SIMPLIFY_ON_PATH = 1 << 8,
	SIMPLIFY_SHOWN = 1 << 9, /* the commit was returned */
	/* a child of the commit was returned */
	SIMPLIFY_CHILD = 1 << 10,
	/* the commit is returned as a boundary commit (--boundary) */
	SIMPLIFY_BOUNDARY = 1 << 11,
	/*
	 * scratch flag: any function may set it, and must clear it before it
	 * returns
	 */
	SIMPLIFY_MARK = 1 << 12,
	/* simplify-topo.c has queued the commit to be simplified */
	SIMPLIFY_EXPLORED = 1 << 13,
	/* simplify-topo.c has queued the commit to count its children */
	SIMPLIFY_COUNTED = 1 << 14,
};

#define SIMPLIFY_NONE UINT32_MAX

struct simplify_node {
	/* index of the commit's first parent in s->parents */
	uint32_t first_parent;
	uint32_t parent_nr;
	/*
	 * Only for a merge: an index into s->same. The array s->same has one
	 * flag for each parent: whether the merge is TREESAME to this parent.
	 * The flag for the first parent is at this index, and the flags for the
	 * other parents follow. SIMPLIFY_NONE if no flags are kept.
	 */
	uint32_t same;
	uint32_t flags;
};

struct simplify_list {
	uint32_t *items; /* owned: commit_nr */
	size_t nr, alloc;
};

struct simplify {
	struct history *h; /* borrowed */
	/* pointers in these options are borrowed */
	struct simplify_options o;
	/* whether the whole list is made before the first commit is returned */
	bool is_limited;
	/* owned array, indexed by commit_nr: the state of the commit */
	struct simplify_node *nodes;
	/* numbers of initialised and of allocated entries of `nodes` */
	size_t node_nr, node_alloc;
	/* the parents of all commits, one commit after the other */
	struct simplify_list parents;
	/*
	 * owned: for each parent of a merge, whether the merge is TREESAME to
	 * this parent
	 */
	bool *same;
	size_t same_nr, same_alloc;
	/* owned: compares trees; NULL without paths */
	struct path_changes *changes;
	struct path_filters filters;
	/*
	 * owned: compares trees at named paths; NULL: `changes` compares trees
	 */
	struct path_look *look;
	/*
	 * owned: returns the commits in topological order; NULL: they come from
	 * the queue or from the list
	 */
	struct simplify_topo *topo;
	struct heap queue;
	/* decides when the walk that makes the list can end */
	struct walk_end end;
	struct simplify_list stack;
	/* if is_limited: the walked commits, in the order of the walk */
	struct simplify_list list;
	/* index of the next commit in `list` to look at */
	size_t list_at;
	/* The following fields store children, by commit_nr. */
	/*
	 * owned array, indexed by commit_nr: the index in `children` after the
	 * commit's last child; NULL: children are not kept
	 */
	uint32_t *child_ends;
	struct simplify_list children;
	/* the following fields are used while commits are returned */
	uint64_t skip_left, max_left;
	/* commit_nr of the commit that was returned last, or SIMPLIFY_NONE */
	uint32_t last;
	/* parents of returned commits, which may be boundary commits */
	struct simplify_list behind;
	/*
	 * true: the list `boundary` is complete, and only its commits are still
	 * to be returned
	 */
	bool has_boundary;
	struct simplify_list boundary;
	size_t boundary_at;
	/* --reverse: whether `all` has been made */
	bool has_all;
	/*
	 * commits that are still to be returned; the last item is the next one
	 */
	struct simplify_list all;
};

static inline struct simplify_node *simplify_node(const struct simplify *s,
						  uint32_t c)
{
	return &s->nodes[c];
}

static inline uint32_t *simplify_node_parents(const struct simplify *s,
					      uint32_t c)
{
	return s->parents.items + s->nodes[c].first_parent;
}

static inline bool simplify_has(const struct simplify *s, uint32_t c,
				uint32_t flags)
{
	return s->nodes[c].flags & flags;
}

/*
 * Returns whether a commit is relevant: it is interesting, or it is a have. A
 * merge with several relevant parents connects several lines of the history
 * that is shown.
 */
static inline bool simplify_is_relevant(const struct simplify *s, uint32_t c)
{
	return (s->nodes[c].flags &
		(SIMPLIFY_UNINTERESTING | SIMPLIFY_BOTTOM)) !=
	       SIMPLIFY_UNINTERESTING;
}

/*
 * Returns whether a merge can become TREESAME later, when some of its parents
 * turn out to be uninteresting. If so, a TREESAME flag for each parent must be
 * kept.
 */
static inline bool simplify_can_grow_same(const struct simplify *s)
{
	return s->o.paths && !s->o.sparse && s->o.full_history &&
	       !s->o.first_parent;
}

/* ---- simplify-nodes.c */

/* Appends a commit to a list. Returns 0 or ERR_NOMEM. */
int simplify_list_add(struct simplify_list *list, uint32_t c);

/* Makes nodes for all commits of the history. Returns 0 or ERR_NOMEM. */
int simplify_grow_nodes(struct simplify *s);

/*
 * Parses a commit and copies its parents into s->parents. Returns 0, or an
 * error code like history_parse().
 */
int simplify_load(struct simplify *s, uint32_t c, struct error *err);

/*
 * Returns the only relevant parent of a commit. Returns SIMPLIFY_NONE if there
 * are several relevant parents or none.
 */
uint32_t simplify_sole_parent(const struct simplify *s, uint32_t c);

/* ---- simplify-walk.c */

/*
 * Queues a loaded commit, unless it was queued before. Returns 0 or ERR_NOMEM.
 */
int simplify_enqueue(struct simplify *s, uint32_t c);

/*
 * Takes the newest commit from the queue. Returns false if the queue is empty.
 */
bool simplify_dequeue(struct simplify *s, uint32_t *c);

/*
 * Simplifies a commit and queues its parents, unless an earlier call has done
 * this. Returns 0 or a negative error code.
 */
int simplify_expand(struct simplify *s, uint32_t c, struct error *err);

/*
 * Queues the tips. If the options need it, also walks the whole history and
 * makes s->list. Returns 0 or a negative error code.
 */
int simplify_walk(struct simplify *s, const struct revwalk_tips *tips,
		  struct error *err);

/* ---- simplify-same.c */

/*
 * Compares a commit with its parents at the paths. Sets the commit's flags, and
 * drops the parents that are not followed. Returns 0 or a negative error code.
 */
int simplify_commit(struct simplify *s, uint32_t c, struct error *err);

/*
 * Computes again whether a merge is TREESAME, after some of its parents were
 * removed or became uninteresting.
 */
void simplify_update_same(struct simplify *s, uint32_t c);

/*
 * Removes the TREESAME flag of parent `i` from a merge. Call this after the
 * parent was removed.
 */
void simplify_drop_same(struct simplify *s, uint32_t c, size_t i);

/*
 * Removes repeated parents of a commit. Returns the number of parents that are
 * left.
 */
int simplify_unite_parents(struct simplify *s, uint32_t c);

/* ---- simplify-order.c */

/*
 * A set of commits whose children were all returned. If by_date, the next
 * commit is the newest one, otherwise the one that was pushed last.
 */
struct simplify_ready {
	bool by_date;
	struct heap heap;
	struct simplify_list stack;
};

int simplify_ready_push(struct simplify_ready *r, const struct simplify *s,
			uint32_t c);
bool simplify_ready_pop(struct simplify_ready *r, uint32_t *c);
void simplify_ready_release(struct simplify_ready *r);

/*
 * Pushes the commits of a list that have no children in the list.
 * simplify_ready_pop() then returns them in the order of the list, or by date
 * if r->by_date is set. `children` is indexed by commit_nr. The value of a
 * commit of the list is one more than the number of its children in the list:
 * 1 means no children. Returns 0 or ERR_NOMEM.
 */
int simplify_ready_tips(struct simplify_ready *r, const struct simplify *s,
			const struct simplify_list *list,
			const uint32_t *children);

/*
 * Orders a list so that children come before parents. Returns 0 or ERR_NOMEM.
 */
int simplify_sort(struct simplify *s, struct simplify_list *list, bool by_date);

/*
 * Stores the children of each commit of s->list, for simplify_children().
 * Returns 0 or ERR_NOMEM.
 */
int simplify_note_children(struct simplify *s);

/* Frees the children that simplify_note_children() has stored. */
void simplify_forget_children(struct simplify *s);

/* ---- simplify-topo.c */

/* Prepares s->topo with the queued tips. Returns 0 or a negative error code. */
int simplify_topo_begin(struct simplify *s, struct error *err);

/*
 * Sets *c to the next commit in topological order. Commits that are not shown
 * are returned too. Returns 1 if there is a commit, 0 at the end, or a negative
 * error code.
 */
int simplify_topo_next(struct simplify *s, uint32_t *c, struct error *err);
void simplify_topo_end(struct simplify *s);

/* ---- simplify-merges.c */

int simplify_merges(struct simplify *s, struct error *err);

/* ---- looking at the paths of commits (path-look.c) */

/*
 * Tells whether named paths differ between two trees. Reads only the entries of
 * these names.
 *
 * This module is made for few pairs of trees, for example those that
 * changed-path filters did not exclude. This module searches the bytes of
 * trees, and caches no decoded trees. For the trees of all commits in order,
 * the module path-changes.h is faster.
 */

struct path_look;

/* Returns whether all patterns are plain names, as path_look_new() requires. */
bool path_look_fits(const struct pathspec *paths);

/*
 * Makes the state for comparing trees at the named paths `paths`. `paths` is
 * borrowed, and path_look_fits() must accept it. `cache_limit` is passed to
 * odb_reader_new(). Returns NULL if memory runs out.
 */
struct path_look *path_look_new(struct objspace *space,
				const struct pathspec *paths,
				size_t cache_limit);
void path_look_free(struct path_look *l);

/*
 * Compares two trees, which are given by their obj_pos. PATH_CHANGES_NO_TREE
 * stands for a tree without entries. Returns 1 if a path that the patterns
 * select differs, 0 if none does, or a negative error code.
 */
int path_look_differs(struct path_look *l, uint32_t new_tree, uint32_t old_tree,
		      struct error *err);

#endif
