/* SPDX-License-Identifier: MIT */
/*
 * The commits that go into a commit-graph file: some to start from, and all
 * that they reach, as far as the layers below do not have it.
 *
 * What a commit says is read from the object, not from a commit-graph: a
 * mistake in the one that is replaced does not live on. One thread calls.
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
	struct walk walk;                 /* its history is what is collected */
	const struct commit_graph *graph; /* borrowed; NULL: none */
	uint32_t below_nr; /* commits of the graph at a lower graph_pos are
			      not collected; may be lowered */
	const struct progress_out *progress; /* may be set */
};

/* 0 or a negative error with nothing to release. */
int graph_commits_open(struct graph_commits *c, const struct odb *odb,
		       const struct commit_graph *graph, uint32_t below_nr,
		       struct error *err);
void graph_commits_close(struct graph_commits *c);

/* What is wrong with an id to start from. */
enum graph_commits_missing {
	GRAPH_COMMITS_SKIP_MISSING,   /* it is left out */
	GRAPH_COMMITS_REFUSE_MISSING, /* ERR_INVALID "invalid object: <id>" */
};

/*
 * Start from an object. Tags are followed; what is no commit then is left out.
 * 1 when it was a commit, 0, or a negative error.
 */
int graph_commits_add(struct graph_commits *c, const struct oid *oid,
		      enum graph_commits_missing missing, struct error *err);

/* Start from an object that is a commit. 0 or ERR_NOMEM. */
int graph_commits_add_raw(struct graph_commits *c, const uint8_t *raw,
			  struct error *err);

/* Start from all commits of a pack. 0 or a negative error. */
int graph_commits_add_pack(struct graph_commits *c, struct pack *pack,
			   struct error *err);

/*
 * Start from the commits of the graph that are at or behind `graph_pos`, but
 * for those (`missing`) whose objects are gone. 0 or a negative error.
 */
int graph_commits_add_graph(struct graph_commits *c,
			    const struct commit_graph *graph,
			    uint32_t graph_pos,
			    enum graph_commits_missing missing,
			    struct error *err);

/* Add all that is reached. 0 or a negative error. */
int graph_commits_reach(struct graph_commits *c, struct error *err);

/* Number of collected commits; after graph_commits_reach(). */
uint32_t graph_commits_nr(struct graph_commits *c);

/* The collected commits as a file has them, without generations. */
struct graph_records {
	struct commit_graph_record *records; /* owned: by id, ascending */
	uint32_t *commit_nrs; /* owned: of each record, in the history */
	uint32_t nr;
	uint32_t *parents; /* owned: graph_pos */
};

#define GRAPH_RECORDS_INIT                                                     \
	{                                                                      \
		NULL, NULL, 0, NULL                                            \
	}

/*
 * 0; ERR_UNSUPPORTED for more commits than the format has numbers for;
 * ERR_NOMEM. *r is to be released in any case.
 */
int graph_commits_records(struct graph_records *r, struct graph_commits *c,
			  struct error *err);
void graph_records_release(struct graph_records *r);

#endif
