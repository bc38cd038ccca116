/* SPDX-License-Identifier: MIT */
/*
 * Puts commit-graph files in place in an object directory: a single file, or a
 * layer of a chain (technical/commit-graph). Decides which layers of the old
 * chain the new chain keeps, and replaces the chain file:
 *
 *    info/commit-graph                           the single file; used instead
 *                                                of a chain
 *    info/commit-graphs/graph-<checksum>.graph   a layer
 *    info/commit-graphs/commit-graph-chain       checksums, lowest layer first
 *
 * The file of a layer is written before a chain names it, and removed only when
 * no chain names it any more. Each file is written under a temporary name, made
 * durable (core.fsync), and renamed. So readers see either the old graph or the
 * new one.
 */
#ifndef GRAPH_WRITE_COMMIT_GRAPH_CHAIN_H
#define GRAPH_WRITE_COMMIT_GRAPH_CHAIN_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "graph/commit-graph.h"
#include "repo/repo.h"

enum commit_graph_split {
	/* write one commit-graph file, and no chain */
	COMMIT_GRAPH_SPLIT_NONE,
	/*
	 * --split: merge layers with the new layer, depending on their sizes
	 * (struct commit_graph_split_options)
	 */
	COMMIT_GRAPH_SPLIT_MERGE,
	/* add the new layer on top, and merge no layer */
	COMMIT_GRAPH_SPLIT_NO_MERGE,
	/*
	 * merge all layers with the new layer, so that the chain has one layer
	 */
	COMMIT_GRAPH_SPLIT_REPLACE,
};

struct commit_graph_split_options {
	enum commit_graph_split split;
	/*
	 * A layer is merged with the new layer if it has at most
	 * `size_multiple` times as many commits as the new layer. 0 means 2, as
	 * in stock Git.
	 */
	uint64_t size_multiple;
	/*
	 * Layers are also merged with the new layer if the new layer has more
	 * commits than this number. 0: no limit.
	 */
	uint64_t max_commits;
};

/*
 * Returns how many layers of `graph`, from the lowest on, the chain keeps below
 * a new layer. The new layer has `new_nr` commits and is in the object
 * directory `dir_nr`. Layers of other directories are kept, unless
 * COMMIT_GRAPH_SPLIT_REPLACE is set. Returns 0 if `graph` is NULL, or a single
 * commit-graph file of another directory, which cannot become a layer.
 */
size_t commit_graph_layers_kept(const struct commit_graph *graph, size_t dir_nr,
				uint64_t new_nr,
				const struct commit_graph_split_options *o);

/* A new chain, and the graph that it replaces. All pointers are borrowed. */
struct commit_graph_chain {
	const struct odb *odb;
	size_t dir_nr;
	/* the existing commit-graph; NULL: none */
	const struct commit_graph *graph;
	/*
	 * number of layers of `graph` that the new chain keeps below the new
	 * layer
	 */
	size_t kept;
	/* bytes of the new layer's file */
	const struct buf *bytes;
	/* checksum of the new layer */
	const struct oid *checksum;
	/*
	 * Seconds since 1970. Files of layers that the new chain does not have
	 * are removed if their modification time is this time or earlier.
	 *
	 * If such a layer was still in the old chain, its modification time is
	 * first set to now. The reason: another process may have read the old
	 * chain, and may be about to open the layer. So if `expiry` is before
	 * now, the layer stays for a while, and a later write of the chain
	 * removes it.
	 */
	int64_t expiry;
};

/*
 * The lock on the chain of one object directory. A process holds it while it
 * reads and replaces the chain.
 */
struct commit_graph_chain_lock {
	struct sys_tempfile file;
	/* owned: path of the chain file, with symbolic links followed */
	char *path;
};

#define COMMIT_GRAPH_CHAIN_LOCK_INIT                                           \
	{                                                                      \
		SYS_TEMPFILE_INIT, NULL                                        \
	}

/*
 * Locks the chain. The lock file is in the directory of the layers. If this
 * directory is missing, it is created if `create` is true. Otherwise there is
 * no chain to lock, so nothing is locked. Returns 0, also if nothing was
 * locked; ERR_DENIED if another process holds the lock; or another negative
 * error code.
 */
int commit_graph_chain_lock(struct commit_graph_chain_lock *lock,
			    const struct odb *odb, size_t dir_nr, bool create,
			    struct error *err);

/* Releases the lock of a chain if it is held. */
void commit_graph_chain_unlock(struct commit_graph_chain_lock *lock);

/*
 * Writes the file of the new layer and the chain file. Then removes files that
 * the new chain does not need, unless another process has changed the chain
 * meanwhile. Takes the lock first if it is not held, and releases it. Returns 0
 * or a negative error code. After an error the old chain is still in place,
 * with one exception: if only the removal of files has failed, the new chain is
 * in place.
 */
int commit_graph_chain_install(const struct commit_graph_chain *chain,
			       struct commit_graph_chain_lock *lock,
			       struct error *err);

/*
 * Removes a chain after a single commit-graph file has replaced the chain. Does
 * nothing if `lock`, the lock of the chain, is not held: another process may be
 * writing a new chain.
 *
 * The file commit-graph-chain, which lists the layers, is removed at once. The
 * file of a layer is removed if it was last changed at or before `expiry`, in
 * seconds since 1970. Younger layers stay, because other processes may still
 * read them. Returns 0 or a negative error code.
 */
int commit_graph_chain_remove(const struct commit_graph_chain_lock *lock,
			      const struct odb *odb, size_t dir_nr,
			      int64_t expiry, struct error *err);

/*
 * Makes `bytes` the single commit-graph file of the object directory `dir`.
 * Returns 0, or an error code with the old graph in place. ERR_DENIED means
 * that another process holds the lock ("Unable to create '...': File exists.").
 */
int commit_graph_install(const struct repo *repo, const char *dir,
			 const struct buf *bytes, struct error *err);

#endif
