/* SPDX-License-Identifier: MIT */
/* One commit of a commit-graph against its object. */
#ifndef GRAPH_COMMIT_GRAPH_COMPARE_H
#define GRAPH_COMMIT_GRAPH_COMPARE_H

#include <stdint.h>

#include "base/buf.h"
#include "graph/commit-graph.h"

/*
 * Append a line, ended by NUL, for each thing that the graph says of a commit
 * and that is not so: tree, parents and date as the object has them,
 * generations above those of the parents. 0 or ERR_NOMEM.
 */
int commit_graph_compare(struct buf *lines, const struct commit_graph *graph,
			 uint32_t graph_pos, struct odb_reader *reader);

#endif
