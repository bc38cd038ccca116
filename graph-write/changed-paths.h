/* SPDX-License-Identifier: MIT */
/*
 * Computes the changed-path filters of a commit-graph file (graph/bloom.h): the
 * paths that each commit has changed against its first parent. All processors
 * are used. Filters of the replaced graph are taken over.
 */
#ifndef GRAPH_WRITE_CHANGED_PATHS_H
#define GRAPH_WRITE_CHANGED_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph-write/graph-commits.h"
#include "graph/bloom.h"
#include "graph/commit-graph.h"

struct changed_paths_options {
	struct bloom_settings settings;
	/*
	 * Limit of computed filters; negative: no limit. Commits with the
	 * lowest corrected dates come first. The other filters are left empty.
	 */
	int64_t max_new;
	const struct commit_graph *old;      /* borrowed; NULL: none */
	unsigned threads;                    /* 0: one per processor */
	const struct progress_out *progress; /* or NULL */
};

struct changed_paths {
	struct commit_graph_filter *filters; /* owned: by record */
	struct buf *bytes;                   /* owned: by thread */
	unsigned thread_nr;
};

#define CHANGED_PATHS_INIT                                                     \
	{                                                                      \
		NULL, NULL, 0                                                  \
	}

/*
 * Computes the filters of the records. Generation numbers must be known. First
 * parents in lower layers are read. Returns 0 or a negative error code. Release
 * *out in any case.
 */
int changed_paths_compute(struct changed_paths *out, struct graph_commits *c,
			  const struct graph_records *records,
			  const struct changed_paths_options *options,
			  struct error *err);
void changed_paths_release(struct changed_paths *c);

#endif
