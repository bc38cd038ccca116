/* SPDX-License-Identifier: MIT */
/*
 * Writes commit-graphs: collects commits (graph-commits.c), computes generation
 * numbers (commit-graph-generations.c) and changed-path filters
 * (changed-paths.c), makes the file (graph/commit-graph-file.h) and puts it in
 * place (commit-graph-chain.h). Callers are `git commit-graph write`, `git gc`
 * and maintenance.
 */
#ifndef GRAPH_WRITE_COMMIT_GRAPH_WRITE_H
#define GRAPH_WRITE_COMMIT_GRAPH_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph-write/commit-graph-chain.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "repo/repo.h"
#include "sys/progress.h"

/* Where the tips come from. All commits that the tips reach are written. */
enum commit_graph_source {
	COMMIT_GRAPH_FROM_PACKS, /* all packs */
	COMMIT_GRAPH_FROM_REFS,  /* all refs */
	/* the packs in options->packs: all their commits */
	COMMIT_GRAPH_FROM_NAMED,
	/* the commits in options->commits */
	COMMIT_GRAPH_FROM_COMMITS,
};

struct commit_graph_options {
	enum commit_graph_source source;
	/*
	 * borrowed: ids of commits or of tags of commits; other objects are
	 * ignored
	 */
	const struct oid *commits;
	size_t commit_nr;
	/* borrowed: names of the .idx files of packs in the object directory */
	const char *const *packs;
	size_t pack_nr;
	/* true: also write the commits of the existing graph */
	bool append;
	/*
	 * changed_paths: 1 writes changed-path filters, 0 writes none. A
	 * negative value writes them only if the existing graph has filters.
	 *
	 * changed_paths_version: the version of the filters, 1 or 2. A negative
	 * value means the version of the existing graph's filters, or 1 if it
	 * has none. 0 writes version 1, and reuses no old filter. If the
	 * version is unknown, no graph is written.
	 */
	int changed_paths;
	int64_t changed_paths_version;
	/* maximum number of new filters; negative: no maximum */
	int64_t max_new_filters;
	struct commit_graph_split_options split;
	/*
	 * Layers that the new chain does not have are removed if they were last
	 * changed at or before this time, in seconds since 1970. INT64_MAX
	 * (default): they are removed at once. See commit-graph-chain.h.
	 */
	int64_t expiry;
	/* index in odb->dirs of the directory to which the graph is written */
	size_t dir_nr;
	/*
	 * 2: also write corrected dates (generation numbers v2); 1: do not
	 * write them
	 */
	unsigned generation_version;
	const struct progress_out *progress; /* borrowed; NULL: none */
	/*
	 * Borrowed; NULL allowed. Receives the damage if a ref was skipped
	 * because its object is damaged (COMMIT_GRAPH_FROM_REFS).
	 */
	struct error *warning;
};

/*
 * Loads the options from commitGraph.*. By default all refs are the tips, and
 * one file is written to the repository's own object directory. Returns 0 or
 * ERR_INVALID.
 */
int commit_graph_options_load(struct commit_graph_options *o,
			      const struct repo *repo, struct error *err);

/*
 * Writes a commit-graph. Returns 1 if a file was written. Returns 0 if there
 * are no commits to write (for a chain: no new commits). Also returns 0 if
 * commit_graph_is_writable() refuses, or if changed_paths_version is unknown.
 * Otherwise returns an error code, with the graph unchanged:
 *
 * - ERR_INVALID: an id in `commits` has no object ("invalid object: <id>"), or
 *   a name in `packs` has no index ("error adding pack <path>").
 * - ERR_MISSING: a reachable commit is missing.
 * - ERR_DENIED: another process is writing a graph.
 */
int commit_graph_write(const struct odb *odb,
		       const struct commit_graph_options *options,
		       struct error *err);

/* ---- how far a graph is behind the refs (graph-lacks.c) */

/*
 * Returns 1 if the refs reach at least `limit` (not 0) commits that the
 * commit-graph does not have, 0 if not, or a negative error code. A graph that
 * cannot be read counts as a graph without commits. Objects that cannot be read
 * and refs to missing objects are ignored here; commit_graph_write() reports
 * them. The walk stops at commits of the graph, and at the limit. O(missing
 * commits, at most `limit`).
 */
int graph_lacks_commits(const struct repo *repo, uint64_t limit,
			struct error *err);

#endif
