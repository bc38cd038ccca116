/* SPDX-License-Identifier: MIT */
/*
 * Verifies a commit-graph, for `git commit-graph verify` and `git fsck`. Checks
 * the checksums of the graph and the order of ids. Compares the tree, the
 * parents and the date of each commit with the commit object, and the
 * generation numbers with those of the parents.
 */
#ifndef GRAPH_COMMIT_GRAPH_VERIFY_H
#define GRAPH_COMMIT_GRAPH_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "graph/commit-graph.h"
#include "odb/odb.h"
#include "sys/progress.h"

/*
 * The kinds of errors, as bits. Stock Git's exit code has the same bits.
 * COMMIT_GRAPH_BAD_CHECKSUM is set only for a layer that has a wrong checksum
 * and no other error.
 */
enum {
	COMMIT_GRAPH_IS_WRONG = 1 << 0,
	COMMIT_GRAPH_BAD_CHECKSUM = 1 << 1,
};

struct commit_graph_verify_options {
	/* index in odb->dirs of the directory with the commit-graph */
	size_t dir_nr;
	/* check only the topmost layer of a chain */
	bool shallow;
	/* number of threads that read objects; 0: one per processor */
	unsigned threads;
	/* Receives a line that describes an error, without a newline. */
	void (*complain)(void *ctx, const char *line);
	void *ctx;
	const struct progress_out *progress; /* or NULL */
};

/*
 * Verifies the commit-graph of an object directory. Reads every commit once.
 * Returns 0 if no error was found, or if there is no commit-graph. Returns a
 * positive number if errors were found: the bits COMMIT_GRAPH_* of their kinds.
 * Returns ERR_NOMEM if memory runs out.
 */
int commit_graph_verify_dir(const struct odb *odb,
			    const struct commit_graph_verify_options *options,
			    struct error *err);

/* ---- one commit (commit-graph-compare.c) */

/*
 * Compares a commit of the graph with its object: tree, parents and date must
 * be equal, and generation numbers must be higher than those of the parents.
 * Appends a line, ended by NUL, for each error. Returns 0 or ERR_NOMEM.
 */
int commit_graph_compare(struct buf *lines, const struct commit_graph *graph,
			 uint32_t graph_pos, struct odb_reader *reader);

#endif
