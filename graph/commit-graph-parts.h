/* SPDX-License-Identifier: MIT */
/*
 * What a graph is made of, for those who write and check graphs; others ask
 * commit-graph.h.
 */
#ifndef GRAPH_COMMIT_GRAPH_PARTS_H
#define GRAPH_COMMIT_GRAPH_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/commit-graph-layer.h"
#include "graph/commit-graph.h"

#define COMMIT_GRAPH_LAYERS_MAX 256 /* bases are counted in one byte */

/*
 * Layers ascend, layers[i].below_nr is the number of commits in layers
 * [0, i). Parents of a commit lie in its own layer or below.
 */
struct commit_graph {
	enum hash_algo algo;
	struct commit_graph_layer *layers; /* owned; lowest first */
	size_t *dir_nrs; /* owned: of each layer, where in odb->dirs it is */
	size_t layer_nr, layer_alloc, dir_alloc;
	uint32_t nr;
	bool is_chain;   /* made of files in info/commit-graphs/ */
	bool incomplete; /* some layers of the chain could not be opened */
	bool has_dates;  /* corrected dates may be used */
};

/*
 * Open what there is in one object directory, whether or not it may be used
 * (shallow, replace refs). Of a chain with layers that cannot be opened, those
 * below are taken; `incomplete` is set then, and *why says what is wrong (also
 * NULL). 1, 0 when there is none, or a negative error, also in *why.
 */
int commit_graph_open_dir(struct commit_graph **out, const struct odb *odb,
			  size_t dir_nr, struct error *why);

/*
 * As commit_graph_open_dir() for the first directory from `dir_nr` on that has
 * one that can be opened; a negative error only when there is none.
 */
int commit_graph_open_first(struct commit_graph **out, const struct odb *odb,
			    size_t dir_nr, struct error *why);

/* The layer that holds a position, or NULL when none does. */
const struct commit_graph_layer *commit_graph_layer_of(
	const struct commit_graph *graph, uint32_t graph_pos);

#endif
