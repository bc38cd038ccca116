/* SPDX-License-Identifier: MIT */
/* How far a commit-graph is behind the refs. */
#ifndef GRAPH_WRITE_GRAPH_LACKS_H
#define GRAPH_WRITE_GRAPH_LACKS_H

#include <stdint.h>

#include "base/error.h"
#include "repo/repo.h"

/*
 * Whether the refs reach `limit` commits, not 0, that the commit-graph does not
 * have; one that cannot be read has none. 1, 0 or a negative error. What cannot
 * be read, and dangling refs, are left out: who writes the graph complains.
 * Nothing is looked at behind a commit of the graph, or after the limit:
 * O(commits that are lacking, at most `limit`).
 */
int graph_lacks_commits(const struct repo *repo, uint64_t limit,
			struct error *err);

#endif
