/* SPDX-License-Identifier: MIT */
/*
 * One commit-graph file as bytes, from commits whose places and generations
 * are known (format: commit-graph-layer.h). Where the bytes go, and when they
 * become visible, is for commit-graph-chain.h.
 *
 * The chunks stand in the order in which stock Git writes them, so that equal
 * commits give equal files.
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
	uint64_t date;         /* committer date, seconds since 1970 */
	uint64_t corrected;    /* generation number v2; 0: not known yet */
	uint32_t generation;   /* generation number v1; 0: not known yet */
	uint32_t first_parent; /* index into the file's `parents` */
	uint32_t parent_nr;
};

/* What goes into a file. All borrowed. */
struct commit_graph_file {
	enum hash_algo algo;
	const struct commit_graph_record *records; /* by id, ascending */
	uint32_t nr;
	const uint32_t *parents; /* graph_pos */
	uint32_t below_nr;       /* commits in the layers below */
	bool with_dates;         /* write the corrected dates */
	const struct commit_graph_filter *filters; /* of each record; NULL:
						      none are written */
	struct bloom_settings bloom;               /* of the filters */
	const uint8_t *bases; /* raw checksums of the layers below */
	unsigned base_nr;
	const struct progress_out *progress; /* or NULL */
};

/*
 * Append the file to *out; *checksum is its trailer. 0, ERR_NOMEM, or
 * ERR_UNSUPPORTED for more than 4 GiB of filters, with *out as it was.
 * O(bytes).
 */
int commit_graph_file_append(struct buf *out, struct oid *checksum,
			     const struct commit_graph_file *file,
			     struct error *err);

#endif
