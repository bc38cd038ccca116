/* SPDX-License-Identifier: MIT */
/* Compares one commit of a commit-graph with its object. */
#ifndef GRAPH_COMMIT_GRAPH_COMPARE_H
#define GRAPH_COMMIT_GRAPH_COMPARE_H

#include <stdint.h>

#include "base/buf.h"
#include "graph/commit-graph.h"

/*
 * Appends a line, ended by NUL, for each error of the graph about a commit.
 * Tree, parents and date must be those of the object. Generation numbers must
 * be higher than those of the parents. Returns 0 or ERR_NOMEM.
 */
int commit_graph_compare(struct buf *lines, const struct commit_graph *graph,
			 uint32_t graph_pos, struct odb_reader *reader);

#endif
