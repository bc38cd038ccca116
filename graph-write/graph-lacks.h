/* SPDX-License-Identifier: MIT */
/* Measures how far a commit-graph is behind the refs. */
#ifndef GRAPH_WRITE_GRAPH_LACKS_H
#define GRAPH_WRITE_GRAPH_LACKS_H

#include <stdint.h>

#include "base/error.h"
#include "repo/repo.h"

/*
 * Returns 1 if the refs reach at least `limit` (not 0) commits that the
 * commit-graph lacks, 0 if not, or a negative error code. An unreadable graph
 * has no commits. Unreadable objects and dangling refs are ignored: writing the
 * graph reports them. The walk stops at commits of the graph, and at the limit.
 * O(lacking commits, at most `limit`).
 */
int graph_lacks_commits(const struct repo *repo, uint64_t limit,
			struct error *err);

#endif
