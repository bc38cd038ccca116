/* SPDX-License-Identifier: MIT */
/*
 * Writing commit-graphs: which commits (graph-commits.h), their generations
 * (graph/commit-graph-generations.h), the file (graph/commit-graph-file.h) and
 * its place (graph/commit-graph-store.h, graph/commit-graph-chain.h). What `git
 * commit-graph write` does, for this and for others that leave a repository
 * with a graph (gc).
 */
#ifndef GRAPH_WRITE_COMMIT_GRAPH_WRITE_H
#define GRAPH_WRITE_COMMIT_GRAPH_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/commit-graph-chain.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "sys/progress.h"

/* Where the commits come from; what they reach comes along. */
enum commit_graph_source {
	COMMIT_GRAPH_FROM_PACKS,   /* all packs */
	COMMIT_GRAPH_FROM_REFS,    /* all refs */
	COMMIT_GRAPH_FROM_NAMED,   /* options->packs */
	COMMIT_GRAPH_FROM_COMMITS, /* options->commits */
};

struct commit_graph_options {
	enum commit_graph_source source;
	const struct oid *commits; /* borrowed; others than commits, and tags
				      of such, are left out */
	size_t commit_nr;
	const char *const *packs; /* borrowed: names of pack indexes of the
				     object directory */
	size_t pack_nr;
	bool append; /* the commits of the graph that is there, too */
	/*
	 * Changed-path filters: 1, 0, or negative: if the graph that is there
	 * has some. The version: 1, 2, or negative: as there, else 1; with 0,
	 * 1 is written and nothing of the old ones is taken over.
	 */
	int changed_paths;
	int64_t changed_paths_version;
	int64_t max_new_filters; /* negative: no limit */
	struct commit_graph_split_options split;
	int64_t expiry; /* of layers that are in no chain any more: seconds
			   since 1970; INT64_MAX, the default: at once; see
			   graph/commit-graph-chain.h */
	size_t dir_nr;  /* of odb->dirs: where to write */
	unsigned generation_version;         /* 1: no corrected dates; 2 */
	const struct progress_out *progress; /* borrowed; NULL: none */
};

/*
 * Options as the configuration has them (commitGraph.*), from all refs into
 * one file of the repository's own object directory. 0 or ERR_INVALID.
 */
int commit_graph_options_load(struct commit_graph_options *o,
			      const struct repo *repo, struct error *err);

/*
 * Write. 1 when a file was written; 0 when there are no commits (for a chain:
 * no new ones), or none may be written here (commit_graph_is_writable());
 * ERR_INVALID for an id of `commits` without object ("invalid object: <id>")
 * and a name of `packs` without index ("error adding pack <path>");
 * ERR_MISSING for a commit that is reached and not there; ERR_DENIED while
 * another process writes; or another error, with the graph as it was.
 */
int commit_graph_write(const struct odb *odb,
		       const struct commit_graph_options *options,
		       struct error *err);

#endif
