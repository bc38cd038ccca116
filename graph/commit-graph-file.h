/* SPDX-License-Identifier: MIT */
/*
 * Makes the bytes of one commit-graph file from commits whose positions and
 * generation numbers are known. commit-graph-layer.h describes the format.
 * graph-write/commit-graph-chain.h puts the file in place.
 *
 * Chunks are in the order of stock Git, so that equal commits give equal files.
 */
#ifndef GRAPH_COMMIT_GRAPH_FILE_H
#define GRAPH_COMMIT_GRAPH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "graph/commit-graph.h"
#include "object/oid.h"
#include "sys/progress.h"

/* A commit of the file. */
struct commit_graph_record {
	struct oid oid;
	struct oid tree;
	/* committer date, seconds since 1970 */
	uint64_t date;
	/* generation number v2 (corrected date); 0: not known yet */
	uint64_t corrected;
	/* generation number v1; 0: not known yet */
	uint32_t generation;
	/* index of the first parent in the file's `parents` */
	uint32_t first_parent;
	uint32_t parent_nr;
};

/* The input for the bytes of a file. All pointers are borrowed. */
struct commit_graph_file {
	enum hash_algo algo;
	const struct commit_graph_record *records; /* sorted by id, ascending */
	uint32_t nr;
	const uint32_t *parents; /* graph_pos of the parents of all records */
	/* number of commits in the lower layers of the chain */
	uint32_t below_nr;
	/* write generation numbers v2 (corrected dates) */
	bool with_dates;
	/*
	 * the commits' changed-path filters, in the order of the records; NULL:
	 * no filters
	 */
	const struct commit_graph_filter *filters;
	/* settings of the changed-path filters */
	struct bloom_settings bloom;
	/*
	 * raw checksums of the lower layers of the chain, one after the other
	 */
	const uint8_t *bases;
	unsigned base_nr;
	const struct progress_out *progress; /* or NULL */
};

/*
 * Appends the bytes of a commit-graph file to *out. Sets *checksum to the
 * checksum at the end of the file. Returns 0, ERR_UNSUPPORTED for more than 4
 * GiB of filters, or ERR_NOMEM. After an error, *out is unchanged. O(bytes).
 */
int commit_graph_file_append(struct buf *out, struct oid *checksum,
			     const struct commit_graph_file *file,
			     struct error *err);

#endif
