/* SPDX-License-Identifier: MIT */
/*
 * Generation numbers of the commits in a new commit-graph
 * (technical/commit-graph):
 *
 *    generation  one more than the highest of the parents; 1 for a root; at
 *                most COMMIT_GRAPH_GENERATION_MAX (generation number v1)
 *    corrected   the committer date, but more than that of each parent; never
 *                0 (generation number v2)
 */
#ifndef GRAPH_WRITE_COMMIT_GRAPH_GENERATIONS_H
#define GRAPH_WRITE_COMMIT_GRAPH_GENERATIONS_H

#include <stdint.h>

#include "base/error.h"
#include "graph/commit-graph-file.h"
#include "graph/commit-graph-layer.h"

/* The generation numbers of a commit in a layer below. */
struct commit_graph_generation {
	uint64_t corrected;
	uint32_t number;
};

struct commit_graph_generations {
	struct commit_graph_record
		*records; /* output: `generation` and `corrected` */
	uint32_t nr;
	const uint32_t *parents; /* graph_pos */
	uint32_t below_nr;       /* graph_pos of records[0] */
	/* Finds the numbers for graph_pos < below_nr. NULL if below_nr is 0. */
	int (*below)(void *ctx, uint32_t graph_pos,
		     struct commit_graph_generation *generation,
		     struct error *err);
	void *ctx;
	const struct progress_out *progress; /* or NULL */
};

/*
 * Computes all generation numbers, parents first, without recursion. Returns 0,
 * ERR_CORRUPT if a commit is its own ancestor or a parent is out of range,
 * ERR_NOMEM, or an error of `below`. O(commits and parents).
 */
int commit_graph_generations_compute(const struct commit_graph_generations *l,
				     struct error *err);

#endif
