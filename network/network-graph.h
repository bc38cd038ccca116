/* SPDX-License-Identifier: MIT */
/*
 * Keeps the commit-graphs of a network. Members read the store's commit-graph
 * through their alternates. A commit-graph with commits that no longer exist is
 * worse than none, and `git fsck` reports it.
 */
#ifndef NETWORK_NETWORK_GRAPH_H
#define NETWORK_NETWORK_GRAPH_H

#include <stdbool.h>

#include "base/error.h"
#include "repo/repo.h"

/*
 * Write the store's commit-graph of all commits that the store's references
 * reach: a chain, so that commit-graphs of members can stand on it. If `anew`,
 * the chain is one layer of reachable commits only. Otherwise layers are added
 * and merged, and some commits may be unreachable. So use `anew` before
 * pruning. Does nothing if core.commitGraph or gc.writeCommitGraph is false.
 * Returns 0 or a negative error code.
 */
int network_graph_write(const struct repo *store, bool anew, struct error *err);

/*
 * Remove the commit-graph of a member whose references were synced before the
 * store's commit-graph was written: the store's has all these commits. Does
 * nothing if the store has no chain. Returns 0 or a negative error code.
 */
int network_graph_drop(const struct repo *store, const struct repo *member,
		       struct error *err);

/*
 * Remove the commit-graph of a repository if one of its commits exists neither
 * in the repository nor in its alternates. Returns 1 if the commit-graph was
 * removed, 0 if not, or a negative error code. Cost: one look-up per commit of
 * the commit-graph.
 */
int network_graph_clean(const struct repo *repo, struct error *err);

#endif
