/* SPDX-License-Identifier: MIT */
/*
 * Is a commit-graph what the commits say: checksums, order of ids, and each
 * commit's tree, parents, date and generations against its object. What `git
 * commit-graph verify` and `git fsck` do.
 */
#ifndef GRAPH_COMMIT_GRAPH_VERIFY_H
#define GRAPH_COMMIT_GRAPH_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "odb/odb.h"
#include "sys/progress.h"

/* What was found, bit by bit; stock Git's exit code. */
enum {
	COMMIT_GRAPH_IS_WRONG = 1 << 0,
	COMMIT_GRAPH_BAD_CHECKSUM = 1 << 1,
};

struct commit_graph_verify_options {
	size_t dir_nr;    /* of odb->dirs: whose graph */
	bool shallow;     /* of a chain, check only the topmost layer */
	unsigned threads; /* that read objects; 0: as many as processors */
	/* A line about something that is wrong, without newline. */
	void (*complain)(void *ctx, const char *line);
	void *ctx;
	const struct progress_out *progress; /* or NULL */
};

/*
 * Check the graph of an object directory. Returns the bits above, 0 also when
 * there is none; or ERR_NOMEM. Reads every commit once.
 */
int commit_graph_verify_dir(const struct odb *odb,
			    const struct commit_graph_verify_options *options,
			    struct error *err);

#endif
