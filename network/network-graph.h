/* SPDX-License-Identifier: MIT */
/*
 * Commit-graphs of a network. Members read the store's, by way of their
 * alternates. One that has commits which are gone is worse than none, and an
 * error for `git fsck`.
 */
#ifndef NETWORK_NETWORK_GRAPH_H
#define NETWORK_NETWORK_GRAPH_H

#include "base/error.h"
#include "repo/repo.h"

/*
 * Write the store's, of what its references reach, unless core.commitGraph or
 * gc.writeCommitGraph say no. Before anything is pruned: what references reach
 * stays. 0 or negative.
 */
int network_graph_write(const struct repo *store, struct error *err);

/*
 * Remove the commit-graph of a repository if a commit of it is nowhere to be
 * found, in alternates neither. 1 when it was removed, 0, or negative.
 * O(commits in it) look-ups; nothing without a commit-graph.
 */
int network_graph_clean(const struct repo *repo, struct error *err);

#endif
