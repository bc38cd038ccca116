/* SPDX-License-Identifier: MIT */
/*
 * The commits of a walk in memory. A commit is loaded when a caller asks for
 * it.
 *
 * Each commit has a number, `commit_nr`, in the order in which the walk meets
 * commits. Parents, tree and date come from the commit-graph file if the file
 * has the commit, otherwise from the commit object.
 *
 * One thread at a time may load commits. After all commits of interest are
 * parsed, threads may read the history together.
 */
#ifndef WALK_HISTORY_H
#define WALK_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/commit-graph.h"
#include "object/oidmap.h"
#include "odb/odb.h"
#include "sys/progress.h"
#include "walk/commit-map.h"
#include "trees/objspace.h"

#define HISTORY_GENERATION_UNKNOWN UINT32_MAX
#define HISTORY_NONE UINT32_MAX

struct history_commit {
	/* committer date, seconds since 1970 */
	uint64_t date;
	uint32_t obj_pos;
	/*
	 * obj_pos of the commit's tree; valid after parsing, unless
	 * history->lazy_trees is set
	 */
	uint32_t tree_pos;
	/* index of the first parent in history->parents */
	uint32_t first_parent;
	uint32_t parent_nr;
	/*
	 * generation number from the commit-graph: one more than the largest
	 * generation number of the commit's parents; HISTORY_GENERATION_UNKNOWN
	 * if not known
	 */
	uint32_t generation;
	/*
	 * true: the commit was parsed, so its date, tree, parents and
	 * generation are valid
	 */
	bool parsed;
	/*
	 * True: the object of the commit does not exist. Set only if
	 * history->allow_missing is true.
	 */
	bool missing;
};

struct history {
	struct objspace *space;    /* borrowed */
	struct odb_reader *reader; /* borrowed */
	/* owned; NULL: no commit-graph is used */
	struct commit_graph *graph;
	/*
	 * owned array, indexed by commit_nr (< graph_pos_nr): the commit's
	 * position in the commit-graph, plus one; 0: not known
	 */
	uint32_t *graph_pos;
	size_t graph_pos_nr, graph_pos_alloc;
	/*
	 * owned array, indexed by position in the commit-graph: commit_nr of
	 * the commit at this position, plus one; 0: not known. NULL while few
	 * positions are known
	 */
	uint32_t *by_graph;
	/*
	 * owned: commits that commit_ahead_new() has decoded; NULL: it was not
	 * called
	 */
	struct commit_ahead *ahead;
	/*
	 * number of threads for all walks over this history, set by walk_open()
	 * from pack.threads; 0: as many as processors
	 */
	unsigned threads;
	struct progress_out poll; /* see history_poll() */
	/*
	 * counts parsed commits and calls poll.poll at intervals; prints no
	 * progress
	 */
	struct progress meter;
	/*
	 * Set if the entry of some commit in the commit-graph was damaged. Such
	 * a commit was read as an object, so it has no generation number.
	 * Children of this commit may have a generation number.
	 */
	bool lacks_generations;
	/*
	 * May be set by the caller: tree_pos of commits in the commit-graph
	 * stays HISTORY_NONE until history_tree() is called.
	 */
	bool lazy_trees;
	/*
	 * May be set by the caller: a missing commit is not an error. The
	 * commit is then marked `missing`, and has no parents, date 0 and no
	 * valid tree.
	 */
	bool allow_missing;
	/*
	 * borrowed: ids of commits that are treated as having no parents; NULL:
	 * none
	 */
	const struct oidmap *shallow;
	struct history_commit *commits; /* owned */
	size_t nr, alloc;
	/*
	 * owned: the commit_nr of all parents; the parents of one commit are
	 * adjacent
	 */
	uint32_t *parents;
	size_t parent_nr, parent_alloc;
	struct commit_map map; /* obj_pos -> commit_nr + 1 */
};

/*
 * Initialises a history. If `shallow` is not NULL, the commit-graph is not
 * used, because the graph also has the parents behind the shallow boundary. An
 * unreadable commit-graph is not used either. Returns 0 or ERR_NOMEM; release
 * the history in both cases.
 */
int history_init(struct history *h, struct objspace *space,
		 struct odb_reader *reader, const struct oidmap *shallow,
		 struct error *err);
void history_release(struct history *h);

/*
 * Stops using the commit-graph if its checksum is wrong. Call this before any
 * commit is added. Callers that delete unreachable objects must call this: one
 * flipped bit in the graph could hide all ancestors of a commit.
 */
void history_check_graph(struct history *h);

/* Stops using the commit-graph. Call this before any commit is added. */
void history_drop_graph(struct history *h);

/*
 * Makes history_parse() call out->poll, and return ERR_CANCELLED if out->poll
 * asks to cancel. *out is copied; `out` may be NULL. Call this function at most
 * once.
 */
void history_poll(struct history *h, const struct progress_out *out);

/*
 * Sets *commit_nr to the number of the commit `obj_pos`. If the commit has no
 * number yet, adds it to the history without parsing it. The object must be
 * known to be a commit. Returns 0 or ERR_NOMEM.
 */
int history_add(struct history *h, uint32_t obj_pos, uint32_t *commit_nr);

/*
 * Returns the commit_nr of an object, or HISTORY_NONE if the object was not
 * added.
 */
uint32_t history_find(const struct history *h, uint32_t obj_pos);

/*
 * Parses a commit and adds its parents, unless the commit was parsed before.
 * Pointers into h->commits and h->parents may become invalid. Returns 0,
 * ERR_MISSING if the object is missing (but see allow_missing), ERR_CORRUPT if
 * the object is no valid commit, or another negative error code.
 */
int history_parse(struct history *h, uint32_t commit_nr, struct error *err);

/*
 * Sets *tree_pos to the obj_pos of the tree of a parsed commit, even with
 * h->lazy_trees. The commit must not be missing. Returns 0 or a negative error
 * code.
 */
int history_tree(struct history *h, uint32_t commit_nr, uint32_t *tree_pos,
		 struct error *err);

/*
 * Sets *graph_pos to the position of a parsed commit in the commit-graph.
 * Returns false if no such position is known.
 */
static inline bool history_graph_pos(const struct history *h,
				     uint32_t commit_nr, uint32_t *graph_pos)
{
	if (commit_nr >= h->graph_pos_nr || !h->graph_pos[commit_nr])
		return false;
	*graph_pos = h->graph_pos[commit_nr] - 1;
	return true;
}

/*
 * Decodes the unparsed commits of the history and all their ancestors, on
 * h->threads threads. Parsing these commits later is then fast. Useful only if
 * nearly all of these commits will be parsed. Does nothing with one thread, at
 * a second call, or if a commit-graph is used.
 */
void history_read_ahead(struct history *h);

/*
 * Returns the parents (commit_nr) of a parsed commit; valid until the next
 * history_parse().
 */
static inline const uint32_t *history_parents(const struct history *h,
					      uint32_t commit_nr)
{
	uint32_t first = h->commits[commit_nr].first_parent;

	/* Without any parent, h->parents is NULL. */
	return first ? h->parents + first : h->parents;
}

/* ---- decoding ahead (commit-ahead.c) */

/*
 * Decodes commits ahead of a walk, on all processors.
 *
 * A walk visits commits in an order that depends on the commits visited before.
 * Decoding needs no order. So threads decode all commits that are reachable
 * from the walk's queued commits, in any order, and store the results. The walk
 * looks the results up later.
 *
 * A commit that cannot be decoded (not packed, broken, on the shallow boundary)
 * is not stored. The walk reads such a commit itself, so results and errors do
 * not depend on this module.
 */

struct commit_ahead;

/* The data of a commit that was decoded ahead. */
struct ahead_commit {
	uint64_t date;     /* committer date */
	uint32_t tree_pos; /* obj_pos */
	uint32_t parent_nr;
	/* obj_pos of the parents; borrowed */
	const uint32_t *parents;
};

/*
 * Decodes the commits `from` and all their ancestors, but not the ancestors of
 * commits in `shallow` (NULL: none). `from` has `from_nr` positions of objects
 * (obj_pos); all these objects are in packs. `threads` 0: as many as
 * processors. No other thread may use the space during the call. Returns NULL
 * if memory or threads run out. The caller's walk then decodes all commits
 * itself, which is slower but gives the same result.
 */
struct commit_ahead *commit_ahead_new(struct objspace *space,
				      const struct oidmap *shallow,
				      const uint32_t *from, size_t from_nr,
				      unsigned threads);
void commit_ahead_free(struct commit_ahead *ahead);

/*
 * Sets *commit to a decoded commit. Returns false if the commit was not
 * decoded.
 */
bool commit_ahead_get(const struct commit_ahead *ahead, uint32_t obj_pos,
		      struct ahead_commit *commit);

#endif
