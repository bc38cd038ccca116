/* SPDX-License-Identifier: MIT */
/*
 * The commit graph in memory, loaded as far as it is asked for.
 *
 * Commits are numbered by `commit_nr` in the order in which they are met.
 * What a commit says (parents, tree, date) comes from the commit-graph file
 * when that has the commit, else from the object.
 *
 * One thread at a time while it loads; once everything of interest is parsed
 * threads may read it together.
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
#include "walk/commit-ahead.h"
#include "walk/commit-map.h"
#include "walk/objspace.h"

#define HISTORY_GENERATION_UNKNOWN UINT32_MAX
#define HISTORY_NONE UINT32_MAX

struct history_commit {
	uint64_t date; /* committer date, seconds since 1970 */
	uint32_t obj_pos;
	uint32_t tree_pos;     /* obj_pos of its tree; valid once parsed,
				  but see history->lazy_trees */
	uint32_t first_parent; /* index into history->parents */
	uint32_t parent_nr;
	uint32_t generation; /* topological generation from the commit-graph,
			   one more than its highest parent's; unknown:
			   HISTORY_GENERATION_UNKNOWN */
	bool parsed;         /* date, tree, parents and generation are valid */
	bool missing;        /* see history->allow_missing */
};

struct history {
	struct objspace *space;     /* borrowed */
	struct odb_reader *reader;  /* borrowed */
	struct commit_graph *graph; /* owned; NULL when there is none */
	uint32_t *graph_pos; /* owned: by commit_nr, below graph_pos_nr, its
				place in the graph plus one; 0: not known */
	size_t graph_pos_nr, graph_pos_alloc;
	uint32_t *by_graph;         /* owned: graph_pos -> commit_nr + 1; NULL:
				       few were met yet */
	struct commit_ahead *ahead; /* owned; NULL: none */
	unsigned threads;           /* that decode ahead; 0, the default:
				       as many as processors */
	struct progress_out poll;   /* see history_poll() */
	struct progress meter;      /* of commits parsed; never drawn */
	bool lacks_generations;     /* a commit of the graph was not taken from
				  it, and its generation is unknown though
				  those of its children are known */
	bool lazy_trees;    /* may be set: of commits of the graph, tree_pos is
			       HISTORY_NONE until history_tree() */
	bool allow_missing; /* may be set: a commit that is missing has no
			       parents, date 0, no valid tree, and is marked */
	const struct oidmap *shallow;   /* borrowed: ids of commits without
					   parents; NULL: none */
	struct history_commit *commits; /* owned */
	size_t nr, alloc;
	uint32_t *parents; /* owned: commit_nr of parents */
	size_t parent_nr, parent_alloc;
	struct commit_map map; /* obj_pos -> commit_nr + 1 */
};

/*
 * `shallow` also makes the commit-graph unusable (its parents and generations
 * do not know the cut). An unreadable commit-graph is done without. 0 or
 * ERR_NOMEM; release in any case.
 */
int history_init(struct history *h, struct objspace *space,
		 struct odb_reader *reader, const struct oidmap *shallow,
		 struct error *err);
void history_release(struct history *h);

/*
 * Do without the commit-graph if its checksum is wrong. To be called before
 * any commit is added, by those who delete what is not reached: a bit that has
 * changed in it would hide all that is behind a commit.
 */
void history_check_graph(struct history *h);

/* Do without the commit-graph; to be called before any commit is added. */
void history_drop_graph(struct history *h);

/*
 * From now on let out->poll end the parsing of commits: history_parse() is
 * ERR_CANCELLED then. `out` may be NULL; it is copied. At most once.
 */
void history_poll(struct history *h, const struct progress_out *out);

/* The commit_nr of an object known to be a commit; not parsed yet. */
int history_add(struct history *h, uint32_t obj_pos, uint32_t *commit_nr);

/* commit_nr of an object that was added; HISTORY_NONE when it was not. */
uint32_t history_find(const struct history *h, uint32_t obj_pos);

/*
 * Make sure the commit is parsed and its parents are added. ERR_MISSING when
 * the object is not there, ERR_CORRUPT when it is no commit. Pointers into
 * h->commits and h->parents may move.
 */
int history_parse(struct history *h, uint32_t commit_nr, struct error *err);

/*
 * The tree of a parsed commit that is not missing, by obj_pos, whatever
 * h->lazy_trees. 0 or negative.
 */
int history_tree(struct history *h, uint32_t commit_nr, uint32_t *tree_pos,
		 struct error *err);

/* Where the graph has a commit that was parsed; false: not known to have. */
static inline bool history_graph_pos(const struct history *h,
				     uint32_t commit_nr, uint32_t *graph_pos)
{
	if (commit_nr >= h->graph_pos_nr || !h->graph_pos[commit_nr])
		return false;
	*graph_pos = h->graph_pos[commit_nr] - 1;
	return true;
}

/*
 * Decode what commits that are not parsed yet reach, on h->threads threads,
 * for parsing to come: when nearly all of it will be asked for. Does nothing
 * for one thread, a second time, or when there is a commit-graph.
 */
void history_read_ahead(struct history *h);

/* Parents of a parsed commit; valid until the next parse. */
static inline const uint32_t *history_parents(const struct history *h,
					      uint32_t commit_nr)
{
	return h->parents + h->commits[commit_nr].first_parent;
}

#endif
