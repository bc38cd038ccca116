/* SPDX-License-Identifier: MIT */
/*
 * Tells whether a commit can have changed a path that a pathspec selects, by
 * the changed-path filters of the commit-graph (graph/bloom.h).
 *
 * For each pattern, the path before its first wildcard is looked up in the
 * commit's filter. If the commit changes a file at or below this path, the
 * filter contains the path. So the answer "no" is certain, unless the
 * commit-graph file is wrong. After any other answer, trees must be compared.
 * The filters do not help if a pattern begins with a wildcard or ignores case.
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
	/* borrowed; NULL: no filters are read */
	const struct commit_graph *graph;
	struct bloom_settings settings;
	/*
	 * owned: the keys of all patterns, one pattern after the other. A
	 * pattern has one key for its path, and one for each directory above
	 * the path.
	 */
	struct bloom_key *keys;
	/*
	 * owned array, indexed by pattern: the index in `keys` after the last
	 * key of the pattern
	 */
	size_t *ends;
	/* number of patterns that do not exclude paths */
	size_t nr;
	/*
	 * Numbers of commits by the result of the filter. absent_nr: the commit
	 * has no filter. maybe_nr: the result was "perhaps". no_nr: the result
	 * was "no".
	 */
	uint64_t absent_nr;
	uint64_t maybe_nr, no_nr;
	/*
	 * number of "perhaps" results for commits whose trees do not differ;
	 * counted by the caller
	 */
	uint64_t false_nr;
};

#define PATH_FILTERS_INIT                                                      \
	{                                                                      \
		.graph = NULL                                                  \
	}

/*
 * Prepares the keys of `paths`. f->graph stays NULL if filters are not to be
 * read (commitGraph.changedPathsVersion) or would not help. `graph` may be
 * NULL. Returns 0 or a negative error code. The caller releases *f in any case.
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

/*
 * Returns whether a commit of the commit-graph can differ from its first parent
 * at the paths.
 */
enum path_filters_answer path_filters_ask(struct path_filters *f,
					  uint32_t graph_pos);

#endif
