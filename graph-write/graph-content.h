/* SPDX-License-Identifier: MIT */
/*
 * The content of a new commit-graph file: the commits (graph-commits.c), the
 * commits' generation numbers (commit-graph-generations.c), and the paths that
 * the commits have changed (changed-paths.c).
 */
#ifndef GRAPH_WRITE_GRAPH_CONTENT_H
#define GRAPH_WRITE_GRAPH_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/bloom.h"
#include "graph/commit-graph-file.h"
#include "graph/commit-graph-layer.h"
#include "graph/commit-graph.h"
#include "walk/walk.h"

/* ---- commits */

/*
 * Collects the commits of a commit-graph file: the tips and all their
 * ancestors, except commits that the lower layers of the chain have.
 *
 * Commits are read from their objects, not from a commit-graph, so that errors
 * in the replaced graph are not copied. Only one thread may use the struct.
 */

struct graph_commits {
	/* the commits of walk.history are the collected commits */
	struct walk walk;
	/* borrowed: the existing commit-graph; NULL: none */
	const struct commit_graph *graph;
	/*
	 * Number of commits in the layers of `graph` that the new chain keeps.
	 * These commits (graph_pos < below_nr) are not collected. The caller
	 * may reduce this number later, if the new chain keeps fewer layers.
	 */
	uint32_t below_nr;
	const struct progress_out *progress; /* may be set by the caller */
};

/*
 * Initialises *c, without any commit. Returns 0 or a negative error code. After
 * an error, nothing has to be released.
 */
int graph_commits_open(struct graph_commits *c, const struct odb *odb,
		       const struct commit_graph *graph, uint32_t below_nr,
		       struct error *err);
void graph_commits_close(struct graph_commits *c);

/* What is done about a commit id whose object does not exist. */
enum graph_commits_missing {
	GRAPH_COMMITS_SKIP_MISSING, /* skip it */
	/* return ERR_INVALID "invalid object: <id>" */
	GRAPH_COMMITS_REFUSE_MISSING,
};

/*
 * Adds a tip. A tag is followed to the tagged object. An object that is not a
 * commit is ignored. Returns 1 if a commit was added, 0 if not, or a negative
 * error code.
 */
int graph_commits_add(struct graph_commits *c, const struct oid *oid,
		      enum graph_commits_missing missing, struct error *err);

/*
 * Adds a tip that is known to be a commit, by its raw id. Returns 0 or
 * ERR_NOMEM.
 */
int graph_commits_add_raw(struct graph_commits *c, const uint8_t *raw,
			  struct error *err);

/* Adds all commits of a pack as tips. Returns 0 or a negative error code. */
int graph_commits_add_pack(struct graph_commits *c, struct pack *pack,
			   struct error *err);

/*
 * Adds commits of `graph` as tips: those at position `graph_pos` and all that
 * follow. With GRAPH_COMMITS_SKIP_MISSING, commits whose object is missing are
 * skipped. Returns 0 or a negative error code.
 */
int graph_commits_add_graph(struct graph_commits *c,
			    const struct commit_graph *graph,
			    uint32_t graph_pos,
			    enum graph_commits_missing missing,
			    struct error *err);

/* Adds all commits that the tips reach. Returns 0 or a negative error code. */
int graph_commits_reach(struct graph_commits *c, struct error *err);

/*
 * Returns the number of collected commits. Call it after graph_commits_reach().
 */
uint32_t graph_commits_nr(struct graph_commits *c);

/*
 * The collected commits in the form of records of a commit-graph file. The
 * generation numbers in the records are still 0.
 */
struct graph_records {
	/* owned: sorted by id, ascending */
	struct commit_graph_record *records;
	/*
	 * owned array, indexed like `records`: commit_nr of the commit, the
	 * index in history.commits
	 */
	uint32_t *commit_nrs;
	uint32_t nr;
	/*
	 * owned array: the graph_pos of all parents; a record says where its
	 * parents are
	 */
	uint32_t *parents;
};

#define GRAPH_RECORDS_INIT                                                     \
	{                                                                      \
		NULL, NULL, 0, NULL                                            \
	}

/*
 * Makes the records. Returns 0, ERR_UNSUPPORTED if there are more commits than
 * the format can store, or ERR_NOMEM. The caller releases *r in any case.
 */
int graph_commits_records(struct graph_records *r, struct graph_commits *c,
			  struct error *err);
void graph_records_release(struct graph_records *r);

/* ---- generation numbers */

/*
 * Generation numbers of the commits in a new commit-graph
 * (technical/commit-graph):
 *
 *    generation  one more than the largest `generation` of the parents; 1 for
 *                a root; at most COMMIT_GRAPH_GENERATION_MAX (v1)
 *    corrected   the committer date, or one more than the largest `corrected`
 *                of the parents if that is later; never 0 (v2)
 */

/* Both generation numbers of a commit in a lower layer of the chain. */
struct commit_graph_generation {
	uint64_t corrected;
	uint32_t number;
};

struct commit_graph_generations {
	/*
	 * The records. commit_graph_generations_compute() sets their fields
	 * `generation` and `corrected`.
	 */
	struct commit_graph_record *records;
	uint32_t nr;
	const uint32_t *parents; /* graph_pos of the parents of all records */
	/*
	 * graph_pos of the commit of records[0] in the chain: the number of
	 * commits in lower layers
	 */
	uint32_t below_nr;
	/*
	 * Finds the generation numbers of a commit with graph_pos < below_nr,
	 * which is in a lower layer. NULL if below_nr is 0.
	 */
	int (*below)(void *ctx, uint32_t graph_pos,
		     struct commit_graph_generation *generation,
		     struct error *err);
	void *ctx;
	const struct progress_out *progress; /* or NULL */
};

/*
 * Computes all generation numbers, parents first, without recursion. Returns 0,
 * ERR_CORRUPT if a commit is its own ancestor or a parent is out of range,
 * ERR_NOMEM, or an error that the callback l->below() has returned. O(commits
 * and parents).
 */
int commit_graph_generations_compute(const struct commit_graph_generations *l,
				     struct error *err);

/* ---- changed-path filters */

/*
 * Computes the changed-path filters of a commit-graph file (graph/bloom.h): the
 * paths that each commit has changed against its first parent. All processors
 * are used. Existing filters of the replaced graph are copied.
 */

struct changed_paths_options {
	struct bloom_settings settings;
	/*
	 * Maximum number of filters that are computed; negative: no maximum.
	 * Filters of commits with the lowest corrected dates are computed
	 * first. Commits beyond the maximum get an empty filter.
	 */
	int64_t max_new;
	/*
	 * borrowed: the replaced commit-graph, whose filters are copied; NULL:
	 * none
	 */
	const struct commit_graph *old;
	unsigned threads;                    /* 0: one per processor */
	const struct progress_out *progress; /* or NULL */
};

struct changed_paths {
	/* owned: the filters, in the order of the records */
	struct commit_graph_filter *filters;
	/*
	 * owned array, indexed by thread: the buffer with the filters that the
	 * thread has made
	 */
	struct buf *bytes;
	unsigned thread_nr;
};

#define CHANGED_PATHS_INIT                                                     \
	{                                                                      \
		NULL, NULL, 0                                                  \
	}

/*
 * Computes the changed-path filters of the records, whose generation numbers
 * must be set. Also reads first parents that are in lower layers, because their
 * trees are compared. Returns 0 or a negative error code. The caller releases
 * *out in any case.
 */
int changed_paths_compute(struct changed_paths *out, struct graph_commits *c,
			  const struct graph_records *records,
			  const struct changed_paths_options *options,
			  struct error *err);
void changed_paths_release(struct changed_paths *c);

#endif
