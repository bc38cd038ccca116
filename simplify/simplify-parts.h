/* SPDX-License-Identifier: MIT */
/*
 * The inside of simplify.h:
 *
 *   simplify-nodes.c   commits and their parents; lists of commits
 *   simplify-walk.c    commits by date, what haves reach, the whole list
 *   simplify-same.c    TREESAME: which parents a commit is followed to
 *   simplify-order.c   children before parents; children
 *   simplify-topo.c    the same while the walk goes on
 *   simplify-merges.c  --simplify-merges
 *   simplify-show.c    which are shown, rewriting, the boundary
 *   path-look.c        whether named paths differ between two trees
 *
 * A commit's parents are kept here, as simplification has left them; the
 * history's do not change.
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
#include "walk/objspace.h"

enum {
	SIMPLIFY_SEEN = 1 << 0,   /* was queued, once */
	SIMPLIFY_QUEUED = 1 << 1, /* and still is */
	/* a have reaches it, or it is off the ancestry path */
	SIMPLIFY_UNINTERESTING = 1 << 2,
	SIMPLIFY_BOTTOM = 1 << 3, /* is a have */
	/* its parents are known here */
	SIMPLIFY_LOADED = 1 << 4,
	SIMPLIFY_ADDED = 1 << 5, /* its parents were queued */
	SIMPLIFY_TREESAME = 1 << 6,
	SIMPLIFY_PULL = 1 << 7,    /* not to its first parent */
	SIMPLIFY_ON_PATH = 1 << 8, /* `through` reaches it */
	SIMPLIFY_SHOWN = 1 << 9,   /* was given out */
	SIMPLIFY_CHILD = 1 << 10,  /* a child of it was */
	/* is given out as a boundary */
	SIMPLIFY_BOUNDARY = 1 << 11,
	/* scratch, clear between uses */
	SIMPLIFY_MARK = 1 << 12,
	/* of simplify-topo.c: was queued to be */
	SIMPLIFY_EXPLORED = 1 << 13,
	/* simplified, or to count children */
	SIMPLIFY_COUNTED = 1 << 14,
};

#define SIMPLIFY_NONE UINT32_MAX

struct simplify_node {
	uint32_t first_parent; /* index into s->parents */
	uint32_t parent_nr;
	/*
	 * of a merge, where its parents' flags begin in s->same; SIMPLIFY_NONE:
	 * not kept
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
	/* what it points to: borrowed */
	struct simplify_options o;
	/* walked whole before anything is said */
	bool is_limited;
	struct simplify_node *nodes; /* owned: by commit_nr */
	/* ready: those below node_nr */
	size_t node_nr, node_alloc;
	struct simplify_list parents; /* pieces of nodes */
	/* owned: by parent of a merge: TREESAME to it */
	bool *same;
	size_t same_nr, same_alloc;
	/* owned; NULL without paths */
	struct path_changes *changes;
	struct path_filters filters;
	/* owned; NULL: `changes` compares */
	struct path_look *look;
	/* owned; NULL: it does not give out */
	struct simplify_topo *topo;
	struct heap queue;
	/* of the queue, not uninteresting */
	size_t interesting_nr;
	struct simplify_list stack;
	/* limited: what was walked, in order */
	struct simplify_list list;
	size_t list_at; /* the next one to look at */
	/* The end of the walk: */
	/* all that is queued is uninteresting */
	bool is_ending;
	/* as the history's, when that was found */
	bool lacks_generations;
	/* generation of the lowest one of the list */
	uint32_t lowest;
	/* queued, and may reach the list */
	size_t threat_nr;
	/* Children, by commit_nr: */
	/* owned; NULL: none were asked for */
	uint32_t *child_ends;
	struct simplify_list children;
	/* Giving out: */
	uint64_t skip_left, max_left;
	/* given out last, or SIMPLIFY_NONE */
	uint32_t last;
	/* parents of what was given out */
	struct simplify_list behind;
	/* the rest is made of these: */
	bool has_boundary;
	struct simplify_list boundary;
	size_t boundary_at;
	bool has_all; /* for --reverse: */
	/* what is left of all, the next one last */
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

/* Haves themselves count where history is held together. */
static inline bool simplify_is_relevant(const struct simplify *s, uint32_t c)
{
	return (s->nodes[c].flags &
		(SIMPLIFY_UNINTERESTING | SIMPLIFY_BOTTOM)) !=
	       SIMPLIFY_UNINTERESTING;
}

/* Whether TREESAME has to be known by parent. */
static inline bool simplify_can_grow_same(const struct simplify *s)
{
	return s->o.paths && !s->o.sparse && s->o.full_history &&
	       !s->o.first_parent;
}

/* ---- simplify-nodes.c */

/* Append a commit. Returns 0 or ERR_NOMEM. */
int simplify_list_add(struct simplify_list *list, uint32_t c);

/* Make nodes for all commits that the history has. Returns 0 or ERR_NOMEM. */
int simplify_grow_nodes(struct simplify *s);

/* Read a commit and note its parents. 0, or as history_parse(). */
int simplify_load(struct simplify *s, uint32_t c, struct error *err);

/* The one parent that counts; SIMPLIFY_NONE: there are more, or none. */
uint32_t simplify_sole_parent(const struct simplify *s, uint32_t c);

/* ---- simplify-walk.c */

/* Put a commit that is loaded into the queue, unless it ever was. */
int simplify_enqueue(struct simplify *s, uint32_t c);

/* The newest of the queue; false when it is empty. */
bool simplify_dequeue(struct simplify *s, uint32_t *c);

/* Simplify a commit and queue its parents, once. */
int simplify_expand(struct simplify *s, uint32_t c, struct error *err);

/* Queue the tips, then if it has to be, make the list. */
int simplify_walk(struct simplify *s, const struct revwalk_tips *tips,
		  struct error *err);

/* ---- simplify-same.c */

/* Compare a commit with its parents: its flags, and whom it is followed to. */
int simplify_commit(struct simplify *s, uint32_t c, struct error *err);

/* Find out again whether a merge is TREESAME, its parents having changed. */
void simplify_update_same(struct simplify *s, uint32_t c);

/* A merge has lost its parent `i`; the rest has moved up. */
void simplify_drop_same(struct simplify *s, uint32_t c, size_t i);

/* Let each parent be there once: how many are left. */
int simplify_unite_parents(struct simplify *s, uint32_t c);

/* ---- simplify-order.c */

/* What can be given out: newest first, or last come first served. */
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
 * Push the commits of a list that have no children (`children` counts one more,
 * by commit_nr), the first of them on top.
 */
int simplify_ready_tips(struct simplify_ready *r, const struct simplify *s,
			const struct simplify_list *list,
			const uint32_t *children);

/* Children before parents. 0 or ERR_NOMEM. */
int simplify_sort(struct simplify *s, struct simplify_list *list, bool by_date);

/* Who is the child of whom in s->list. 0 or ERR_NOMEM. */
int simplify_note_children(struct simplify *s);

/* ---- simplify-topo.c */

/* Begin to give out from the queued tips. 0 or negative. */
int simplify_topo_begin(struct simplify *s, struct error *err);

/* The next commit, shown or not: 1, 0 at the end, or negative. */
int simplify_topo_next(struct simplify *s, uint32_t *c, struct error *err);
void simplify_topo_end(struct simplify *s);

/* ---- simplify-merges.c */

int simplify_merges(struct simplify *s, struct error *err);

/* ---- looking at the paths of commits (path-look.c) */

/*
 * Whether some named paths differ between two trees, by a look at nothing but
 * the entries of these names.
 *
 * For trees here and there in a history, as changed-path filters leave them:
 * what is in between is read as bytes, and nothing is kept but a reader's
 * cache. For one tree after the other, path-changes.h is faster.
 */

struct path_look;

/* Whether all patterns are plain names. */
bool path_look_fits(const struct pathspec *paths);

/*
 * `paths` is borrowed, and path_look_fits() accepts it. `cache_limit` is as for
 * odb_reader_new(). Returns NULL if memory runs out.
 */
struct path_look *path_look_new(struct objspace *space,
				const struct pathspec *paths,
				size_t cache_limit);
void path_look_free(struct path_look *l);

/*
 * Compare trees (obj_pos, or PATH_CHANGES_NO_TREE for one without entries) as
 * path_changes_run() does: 1 when anything that the patterns take differs, else
 * 0, or a negative error.
 */
int path_look_differs(struct path_look *l, uint32_t new_tree, uint32_t old_tree,
		      struct error *err);

#endif
