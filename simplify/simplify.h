/* SPDX-License-Identifier: MIT */
/*
 * History, simplified: the commits that change some paths, and those that hold
 * them together ("History Simplification" of git-rev-list(1), whose words are
 * used here), in Git's order.
 *
 * A commit is TREESAME to a parent when nothing that the pathspec takes differs
 * between them. A merge that is TREESAME to a parent is followed to that
 * parent alone, unless the full history is asked for; what is TREESAME is
 * not shown, unless it is needed to connect what is. Parents can be rewritten
 * to the next commits that are shown.
 *
 * Without haves, and where the order allows, commits are given out while the
 * walk goes on; otherwise it is made whole first. One thread.
 */
#ifndef SIMPLIFY_SIMPLIFY_H
#define SIMPLIFY_SIMPLIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "names/pathspec.h"
#include "walk/history.h"
#include "walk/revwalk.h"

enum simplify_order {
	SIMPLIFY_ORDER_WALK, /* by date, as met */
	/* children first, branch by branch */
	SIMPLIFY_ORDER_TOPO,
	SIMPLIFY_ORDER_DATE, /* children first, by date */
};

struct simplify_options {
	/* borrowed; NULL: every commit counts as a change */
	const struct pathspec *paths;
	bool full_history; /* follow all parents */
	/* show what is TREESAME, too */
	bool sparse;
	/*
	 * --simplify-merges: drop parents that others reach, and merges that
	 * this leaves without use; with full_history, rewrite and an order
	 */
	bool merges;
	/* show merges that are TREESAME, but not to their first parent */
	bool show_pulls;
	/* do not go on where all of the paths came up */
	bool remove_empty;
	bool first_parent; /* follow only these */
	/* parents are those of the simplified history */
	bool rewrite;
	/* simplify_children() will be asked; with rewrite */
	bool children;
	/* give out what is behind the last commits, too */
	bool boundary;
	/* leave out what is in packs */
	bool unpacked;
	/* Show only commits with so many parents, those that they are followed
	 * to; UINT32_MAX: any number. */
	uint32_t min_parents, max_parents;
	/*
	 * Only ancestors and descendants of `through` (commit_nr), and these.
	 * through_haves: of all haves. With full_history.
	 */
	bool ancestry_path, through_haves;
	const uint32_t *through; /* borrowed */
	size_t through_nr;
	enum simplify_order order;
	/* of what was given out; see simplify_parents() */
	bool keep_parents;
	/* of what would be given out; UINT64_MAX: all */
	uint64_t skip, max;
	/* what is left of it, last to first */
	bool reverse;
};

struct simplify;

/*
 * Begin. Tips, options and what they point to are borrowed until the end. 0
 * with *out owned by the caller; ERR_INVALID for an ancestry path without
 * haves; ERR_MISSING and others for commits and trees that cannot be read.
 */
int simplify_new(struct simplify **out, struct history *h,
		 const struct revwalk_tips *tips,
		 const struct simplify_options *options, struct error *err);
void simplify_free(struct simplify *s);

/* The next commit: 1, 0 at the end, or negative. */
int simplify_next(struct simplify *s, uint32_t *commit_nr, struct error *err);

/* Some commits (commit_nr); valid until the next call. */
struct simplify_commits {
	const uint32_t *items;
	size_t nr;
};

/*
 * Parents and children of the commit that was given out last; unless they are
 * kept or the order is reversed, its parents are forgotten then: as with stock
 * Git, a child that is met late and would be rewritten past it has none.
 */
struct simplify_commits simplify_parents(const struct simplify *s,
					 uint32_t commit_nr);
struct simplify_commits simplify_children(const struct simplify *s,
					  uint32_t commit_nr);

/* Whether it was given out as a boundary. */
bool simplify_is_boundary(const struct simplify *s, uint32_t commit_nr);

/*
 * Before anything is given out: the commits whose trees are not new, those that
 * haves reach among the walked ones and their parents. 0 or ERR_NOMEM; `edges`
 * malloc()ed.
 */
int simplify_edges(struct simplify *s, uint32_t **edges, size_t *nr);

/* What the changed-path filters were asked, and had to say. */
struct path_filters;
const struct path_filters *simplify_filters(const struct simplify *s);

#endif
