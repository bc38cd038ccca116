/* SPDX-License-Identifier: MIT */
/*
 * Chains of commit-graph files (technical/commit-graph): which layers stay
 * below a new one, and how a chain is replaced:
 *
 *   info/commit-graphs/graph-<checksum>.graph   a layer
 *   info/commit-graphs/commit-graph-chain       checksums, lowest layer first
 *
 * Layers are there before the chain names them, and go after it has stopped
 * to.
 */
#ifndef GRAPH_COMMIT_GRAPH_CHAIN_H
#define GRAPH_COMMIT_GRAPH_CHAIN_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "graph/commit-graph.h"
#include "repo/repo.h"

enum commit_graph_split {
	COMMIT_GRAPH_SPLIT_NONE,     /* one file, no chain */
	COMMIT_GRAPH_SPLIT_MERGE,    /* --split: as the numbers below say */
	COMMIT_GRAPH_SPLIT_NO_MERGE, /* a new layer on top of all others */
	COMMIT_GRAPH_SPLIT_REPLACE,  /* one layer instead of all others */
};

struct commit_graph_split_options {
	enum commit_graph_split split;
	uint64_t size_multiple; /* a layer is merged that has at most as many
				   times the commits of what goes on top;
				   0: 2, as for stock Git */
	uint64_t max_commits;   /* more than this on top: merge; 0: no limit */
};

/*
 * How many of the graph's layers stay as they are below a new one of `new_nr`
 * commits for the object directory `dir_nr`. Layers of other directories are
 * not merged, but for COMMIT_GRAPH_SPLIT_REPLACE; one that is a single file
 * elsewhere cannot stay. `graph` NULL: 0.
 */
size_t commit_graph_layers_kept(const struct commit_graph *graph, size_t dir_nr,
				uint64_t new_nr,
				const struct commit_graph_split_options *o);

/* What a chain is replaced by. All borrowed. */
struct commit_graph_chain {
	const struct odb *odb;
	size_t dir_nr;
	const struct commit_graph *graph; /* what there is; NULL: nothing */
	size_t kept;                      /* its layers that stay */
	const struct buf *bytes;          /* of the layer on top */
	const struct oid *checksum;       /* of it */
	int64_t expiry; /* files of layers that are no more go when they were
			   last changed (and those that end with this, now)
			   before: seconds since 1970 */
};

/* A lock on the chain of a directory, held while it is looked at and changed.
 */
struct commit_graph_chain_lock {
	struct sys_tempfile file;
};

/* 0; ERR_DENIED when another process has it; or another error. */
int commit_graph_chain_lock(struct commit_graph_chain_lock *lock,
			    const struct odb *odb, size_t dir_nr,
			    struct error *err);

/* Give up a lock; one that is not held is accepted. */
void commit_graph_chain_unlock(struct commit_graph_chain_lock *lock);

/*
 * Put the layer and the chain into place; the lock is given up. 0, or a
 * negative error with the old chain in place, or the new one when only tidying
 * up has failed.
 */
int commit_graph_chain_install(const struct commit_graph_chain *chain,
			       struct commit_graph_chain_lock *lock,
			       struct error *err);

/*
 * Remove a chain that a single file has replaced, with its layers. 0 or a
 * negative error.
 */
int commit_graph_chain_remove(const struct odb *odb, size_t dir_nr,
			      struct error *err);

#endif
