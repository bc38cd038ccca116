/* SPDX-License-Identifier: MIT */
/*
 * Whether a commit can have changed what a pathspec takes, by the changed-path
 * filters of the commit-graph (graph/bloom.h).
 *
 * A pattern names a path up to its first wildcard; a change below has all
 * directories of that path in the filter. "No" is certain as far as the file
 * is right; everything else is for the trees to say. Nothing is learnt where
 * some pattern begins with a wildcard, or takes letters of either case.
 */
#ifndef SIMPLIFY_PATH_FILTERS_H
#define SIMPLIFY_PATH_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/commit-graph.h"
#include "names/pathspec.h"

struct path_filters {
	/* borrowed; NULL: nobody to ask */
	const struct commit_graph *graph;
	struct bloom_settings settings;
	/*
	 * owned: of each pattern's path and all directories above it, pattern
	 * by pattern
	 */
	struct bloom_key *keys;
	/* owned: by pattern, where its keys end */
	size_t *ends;
	/* patterns that do not exclude */
	size_t nr;
	/*
	 * of commits of the graph that were asked about: no filter, perhaps, no
	 */
	uint64_t absent_nr;
	uint64_t maybe_nr, no_nr;
	/* "perhaps" that the trees denied; the user's */
	uint64_t false_nr;
};

#define PATH_FILTERS_INIT                                                      \
	{                                                                      \
		.graph = NULL                                                  \
	}

/*
 * Prepare; `graph` NULL: there is none. f->graph stays NULL where filters are
 * not to be read (commitGraph.changedPathsVersion), or would not help. 0 or
 * a negative error; release in any case.
 */
int path_filters_init(struct path_filters *f, const struct commit_graph *graph,
		      const struct config *config, const struct pathspec *paths,
		      struct error *err);
void path_filters_release(struct path_filters *f);

enum path_filters_answer {
	PATH_FILTERS_ABSENT,
	PATH_FILTERS_MAYBE,
	PATH_FILTERS_NO,
};

/* Whether a commit of the graph differs from its first parent there. */
enum path_filters_answer path_filters_ask(struct path_filters *f,
					  uint32_t graph_pos);

#endif
