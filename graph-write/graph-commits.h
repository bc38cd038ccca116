/* SPDX-License-Identifier: MIT */
/*
 * Collects the commits of a commit-graph file: tips, and all commits that they
 * reach and the layers below do not have.
 *
 * Commits are read from their objects, not from a commit-graph, so that errors
 * in the replaced graph are not copied. For one thread.
 */
#ifndef GRAPH_WRITE_GRAPH_COMMITS_H
#define GRAPH_WRITE_GRAPH_COMMITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/commit-graph-file.h"
#include "graph/commit-graph.h"
#include "walk/walk.h"

struct graph_commits {
	/* its history is the collected commits */
	struct walk walk;
	const struct commit_graph *graph; /* borrowed; NULL: none */
	/*
	 * commits of the graph below this graph_pos are not collected; may be
	 * lowered
	 */
	uint32_t below_nr;
	const struct progress_out *progress; /* may be set by the caller */
};

/* Returns 0, or a negative error code with nothing to release. */
int graph_commits_open(struct graph_commits *c, const struct odb *odb,
		       const struct commit_graph *graph, uint32_t below_nr,
		       struct error *err);
void graph_commits_close(struct graph_commits *c);

/* How to treat an id whose object is missing. */
enum graph_commits_missing {
	GRAPH_COMMITS_SKIP_MISSING, /* skip it */
	/* ERR_INVALID "invalid object: <id>" */
	GRAPH_COMMITS_REFUSE_MISSING,
};

/*
 * Adds a tip. Tags are followed. An object that is not a commit is ignored.
 * Returns 1 if it was a commit, 0 if not, or a negative error code.
 */
int graph_commits_add(struct graph_commits *c, const struct oid *oid,
		      enum graph_commits_missing missing, struct error *err);

/* Adds a tip that is known to be a commit. Returns 0 or ERR_NOMEM. */
int graph_commits_add_raw(struct graph_commits *c, const uint8_t *raw,
			  struct error *err);

/* Adds all commits of a pack as tips. Returns 0 or a negative error code. */
int graph_commits_add_pack(struct graph_commits *c, struct pack *pack,
			   struct error *err);

/*
 * Adds the commits of the graph from `graph_pos` on as tips. With
 * GRAPH_COMMITS_SKIP_MISSING, commits without objects are skipped. Returns 0 or
 * a negative error code.
 */
int graph_commits_add_graph(struct graph_commits *c,
			    const struct commit_graph *graph,
			    uint32_t graph_pos,
			    enum graph_commits_missing missing,
			    struct error *err);

/* Adds all reachable commits. Returns 0 or a negative error code. */
int graph_commits_reach(struct graph_commits *c, struct error *err);

/*
 * Returns the number of collected commits. Call it after graph_commits_reach().
 */
uint32_t graph_commits_nr(struct graph_commits *c);

/* The collected commits as records of a file, without generation numbers. */
struct graph_records {
	struct commit_graph_record *records; /* owned: by id, ascending */
	uint32_t *
		commit_nrs; /* owned: commit_nr of each record in the history */
	uint32_t nr;
	uint32_t *parents; /* owned: graph_pos */
};

#define GRAPH_RECORDS_INIT                                                     \
	{                                                                      \
		NULL, NULL, 0, NULL                                            \
	}

/*
 * Makes the records. Returns 0, ERR_UNSUPPORTED if there are more commits than
 * the format can number, or ERR_NOMEM. Release *r in any case.
 */
int graph_commits_records(struct graph_records *r, struct graph_commits *c,
			  struct error *err);
void graph_records_release(struct graph_records *r);

#endif
