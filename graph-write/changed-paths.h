/* SPDX-License-Identifier: MIT */
/*
 * The changed-path filters of a commit-graph file (graph/bloom.h): which paths
 * each commit has changed against its first parent. By all processors; filters
 * of the graph that is replaced are taken over.
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
	 * Filters that are computed at most, those of the lowest generations;
	 * negative: all. Others are left empty.
	 */
	int64_t max_new;
	const struct commit_graph *old;      /* borrowed; NULL: none */
	unsigned threads;                    /* 0: as many as processors */
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
 * Compute the filters of the records, whose generations are known. First
 * parents in layers below are read. 0 or a negative error; release in any case.
 */
int changed_paths_compute(struct changed_paths *out, struct graph_commits *c,
			  const struct graph_records *records,
			  const struct changed_paths_options *options,
			  struct error *err);
void changed_paths_release(struct changed_paths *c);

#endif
