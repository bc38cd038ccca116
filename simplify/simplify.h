/* SPDX-License-Identifier: MIT */
/*
 * Simplified history: the commits that change some paths, and the commits that
 * connect them, in Git's order. See "History Simplification" of
 * git-rev-list(1), whose words are used here.
 *
 * A commit is TREESAME to a parent if no path that the pathspec selects differs
 * between the two. A merge that is TREESAME to a parent is followed only to
 * this parent, unless full_history is set. A TREESAME commit is not shown,
 * unless it connects commits that are shown. Parents can be rewritten to the
 * next commits that are shown.
 *
 * With haves, or if the order needs all commits, the walk is completed before
 * the first commit is returned. Otherwise commits are returned while the walk
 * continues. For one thread.
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
	/* in the order in which the walk by date finds the commits */
	SIMPLIFY_ORDER_WALK,
	/* children before parents, without mixing branches */
	SIMPLIFY_ORDER_TOPO,
	/* children before parents, otherwise by date */
	SIMPLIFY_ORDER_DATE,
};

struct simplify_options {
	/* borrowed; NULL: every commit counts as a change */
	const struct pathspec *paths;
	/* follow all parents of merges */
	bool full_history;
	/* also show TREESAME commits */
	bool sparse;
	/*
	 * --simplify-merges: drop parents that other parents reach. Then drop
	 * merges that do not connect several lines of history any more.
	 * Requires full_history, rewrite, and an order other than
	 * SIMPLIFY_ORDER_WALK.
	 */
	bool merges;
	/* also show TREESAME merges that differ from their first parent */
	bool show_pulls;
	/*
	 * do not visit the parents of a commit that adds all files at the paths
	 */
	bool remove_empty;
	/* follow only the first parent of merges */
	bool first_parent;
	/* return the parents of the simplified history */
	bool rewrite;
	/*
	 * store the children of commits for simplify_children(); requires
	 * rewrite
	 */
	bool children;
	/*
	 * after the commits, return those of their parents that were not
	 * returned
	 */
	bool boundary;
	/* leave out commits that are in packs */
	bool unpacked;
	/*
	 * Show only commits whose number of parents is in this range. Parents
	 * that history simplification has dropped do not count. Parents that
	 * are not followed because of `first_parent` count. max_parents
	 * UINT32_MAX: no limit.
	 */
	uint32_t min_parents, max_parents;
	/*
	 * Show only the commits `through` (commit_nr), their ancestors and
	 * their descendants. If through_haves is set, all haves (the tips whose
	 * ancestors are excluded) are added to `through`. Requires
	 * full_history.
	 */
	bool ancestry_path, through_haves;
	const uint32_t *through; /* borrowed */
	size_t through_nr;
	enum simplify_order order;
	/*
	 * keep the parents of returned commits in memory, see
	 * simplify_parents()
	 */
	bool keep_parents;
	/*
	 * skip: number of commits that are left out at the start; max: maximum
	 * number of commits that are then returned; UINT64_MAX: no limit
	 */
	uint64_t skip, max;
	/*
	 * apply `skip` and `max` first, then return the remaining commits in
	 * reverse order
	 */
	bool reverse;
};

struct simplify;

/*
 * Starts a walk of simplified history. Tips, options and the memory that they
 * point to are borrowed until simplify_free(). *out is owned by the caller.
 *
 * Returns 0 or a negative error code. ERR_INVALID: options->ancestry_path and
 * options->through_haves are set, but `tips` has no haves. (Haves are the
 * commits whose history is excluded, like ^<commit> of git rev-list.)
 * ERR_MISSING: a commit or tree cannot be read.
 */
int simplify_new(struct simplify **out, struct history *h,
		 const struct revwalk_tips *tips,
		 const struct simplify_options *options, struct error *err);
void simplify_free(struct simplify *s);

/*
 * Sets *commit_nr to the next commit. Returns 1 if there is a commit, 0 at the
 * end, or a negative error code.
 */
int simplify_next(struct simplify *s, uint32_t *commit_nr, struct error *err);

/*
 * An array of commits (commit_nr), valid until the next call of a simplify
 * function.
 */
struct simplify_commits {
	const uint32_t *items;
	size_t nr;
};

/*
 * Return the parents or the children of `commit_nr`, the commit that was
 * returned last. Its parents are forgotten when the next commit is returned,
 * unless keep_parents or reverse is set.
 *
 * A parent that is not shown is replaced by its next ancestor that is shown. If
 * the parents of a commit on the way are forgotten already, that ancestor is
 * not found, and the parent is left out. Stock Git does the same.
 */
struct simplify_commits simplify_parents(const struct simplify *s,
					 uint32_t commit_nr);
struct simplify_commits simplify_children(const struct simplify *s,
					  uint32_t commit_nr);

/* Returns whether a commit was returned as a boundary commit. */
bool simplify_is_boundary(const struct simplify *s, uint32_t commit_nr);

/*
 * Sets *edges (malloc()ed) to the edge commits, whose trees the client has: the
 * uninteresting commits that were walked, and the uninteresting parents of
 * walked commits. Call this before any commit is returned. Returns 0 or
 * ERR_NOMEM.
 */
int simplify_edges(struct simplify *s, uint32_t **edges, size_t *nr);

/* Returns the counters of the changed-path filters. */
struct path_filters;
const struct path_filters *simplify_filters(const struct simplify *s);

#endif
