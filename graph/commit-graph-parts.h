/* SPDX-License-Identifier: MIT */
/*
 * The data structure of a commit-graph, for code that writes and checks
 * commit-graphs. Other code uses commit-graph.h.
 */
#ifndef GRAPH_COMMIT_GRAPH_PARTS_H
#define GRAPH_COMMIT_GRAPH_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/commit-graph-layer.h"
#include "graph/commit-graph.h"

/*
 * Maximum number of layers. A file header stores the number of lower layers in
 * one byte.
 */
#define COMMIT_GRAPH_LAYERS_MAX 256

/*
 * A graph: one layer, or a chain of layers. layers[i].below_nr is the number of
 * commits in layers [0, i). The parents of a commit are in its own layer or in
 * layers below.
 */
struct commit_graph {
	enum hash_algo algo;
	/* owned; the lowest layer first */
	struct commit_graph_layer *layers;
	/*
	 * owned: for each layer, the index in odb->dirs of the directory that
	 * has the layer
	 */
	size_t *dir_nrs;
	size_t layer_nr, layer_alloc, dir_alloc;
	uint32_t nr;
	/* the graph is a chain in info/commit-graphs/ */
	bool is_chain;
	/*
	 * true: some layers of the chain could not be opened, so the graph has
	 * only the layers below them
	 */
	bool incomplete;
	/* generation numbers v2 (corrected dates) may be used */
	bool has_dates;
};

/*
 * Opens the graph of one object directory, even if a shallow file or replace
 * refs forbid using it. If a layer of a chain cannot be opened, the layers
 * below it are used: `incomplete` is set, and *why describes the problem. `why`
 * may be NULL. Returns 1 on success, 0 if there is no graph, or a negative
 * error code.
 */
int commit_graph_open_dir(struct commit_graph **out, const struct odb *odb,
			  size_t dir_nr, struct error *why);

/*
 * Works like commit_graph_open_dir(), but tries the directories from `dir_nr`
 * on until a graph can be opened. Returns 1 on success, 0 if no directory has a
 * graph, or a negative error code if there are graphs but none can be opened.
 */
int commit_graph_open_first(struct commit_graph **out, const struct odb *odb,
			    size_t dir_nr, struct error *why);

/*
 * Returns the layer that has a commit, or NULL if the position is out of range.
 */
const struct commit_graph_layer *commit_graph_layer_of(
	const struct commit_graph *graph, uint32_t graph_pos);

#endif
