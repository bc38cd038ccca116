/* SPDX-License-Identifier: MIT */
/*
 * Generation numbers of the commits of a graph that is being written
 * (technical/commit-graph):
 *
 *   generation one more than the highest of the parents; 1 without any;
 *              at most COMMIT_GRAPH_GENERATION_MAX
 *   corrected  the committer date, but more than that of each parent; never 0
 */
#ifndef GRAPH_COMMIT_GRAPH_GENERATIONS_H
#define GRAPH_COMMIT_GRAPH_GENERATIONS_H

#include <stdint.h>

#include "base/error.h"
#include "graph/commit-graph-file.h"
#include "graph/commit-graph-layer.h"

/* The generations of a commit in a layer below. */
struct commit_graph_generation {
	uint64_t corrected;
	uint32_t number;
};

struct commit_graph_generations {
	struct commit_graph_record *records; /* `generation` and `corrected` are
						filled in */
	uint32_t nr;
	const uint32_t *parents; /* graph_pos */
	uint32_t below_nr;       /* graph_pos of records[0] */
	/* Asked about graph_pos below below_nr; NULL where there are none. */
	int (*below)(void *ctx, uint32_t graph_pos,
		     struct commit_graph_generation *generation,
		     struct error *err);
	void *ctx;
	const struct progress_out *progress; /* or NULL */
};

/*
 * Compute them all, parents first, without recursion. 0; ERR_CORRUPT where
 * commits are their own ancestors or parents are out of range; ERR_NOMEM;
 * what `below` returned. O(commits and parents).
 */
int commit_graph_generations_compute(const struct commit_graph_generations *l,
				     struct error *err);

#endif
