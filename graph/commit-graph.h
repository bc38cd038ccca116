/* SPDX-License-Identifier: MIT */
/*
 * Reads commit-graph files: objects/info/commit-graph, or the chain in
 * objects/info/commit-graphs/ (gitformat-commit-graph(5)).
 *
 * `graph_pos` is the number of a commit in the whole chain, counted from the
 * first commit of the lowest layer. The file format uses the same numbers. A
 * graph is immutable, and threads may share it.
 */
#ifndef GRAPH_COMMIT_GRAPH_H
#define GRAPH_COMMIT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/bloom.h"
#include "odb/odb.h"

struct commit_graph;

/* The data of one commit in a commit-graph. */
struct commit_graph_entry {
	const uint8_t *oid; /* raw id */
	/* raw id of the commit's tree */
	const uint8_t *tree;
	/* committer date, seconds since 1970 */
	uint64_t date;
	/* generation number v2 (corrected date); 0: not available */
	uint64_t corrected;
	/* generation number v1; 0 if the file does not have it */
	uint32_t generation;
};

/*
 * Opens the graph of the first object directory that has a graph. Returns 1
 * with *out owned by the caller, 0 if no graph is to be used, or a negative
 * error code if the graph is broken. If the result is not 1, *out is NULL.
 * After an error, the caller may warn and continue without a graph.
 *
 * The result is 0 if there is no graph, or if core.commitGraph is false. It is
 * also 0 with grafts, replace refs or a shallow file, because commits may then
 * have other parents than the graph says. If a layer of a chain cannot be
 * opened, the layers below it are used.
 */
int commit_graph_open(struct commit_graph **out, const struct odb *odb,
		      struct error *err);
void commit_graph_close(struct commit_graph *graph);

/*
 * Returns 1 if a commit-graph may be written in this repository, 0 if not, or a
 * negative error code. No graph may be written if core.commitGraph is false, if
 * there are grafts, or if the repository is shallow. With grafts or a shallow
 * boundary, commits have other parents than their objects say. Replace refs do
 * not matter: a graph contains the original commits, and is not used while
 * there are replace refs.
 */
int commit_graph_is_writable(const struct repo *repo, struct error *err);

/*
 * Verifies the checksums of all layers. Callers that delete unreachable objects
 * call this function before they use the graph. Returns 0, ERR_CORRUPT or
 * ERR_NOMEM. O(bytes).
 */
int commit_graph_verify(const struct commit_graph *graph, struct error *err);

/* Returns the number of commits in all layers. */
uint32_t commit_graph_nr(const struct commit_graph *graph);

/*
 * Returns whether the graph has generation numbers. Files of old Git versions
 * have none.
 */
bool commit_graph_has_generations(const struct commit_graph *graph);

bool commit_graph_find(const struct commit_graph *graph, const uint8_t *raw,
		       uint32_t *graph_pos);

/* Returns the raw id of a commit, or NULL if the position is out of range. */
const uint8_t *commit_graph_oid_raw(const struct commit_graph *graph,
				    uint32_t graph_pos);

/*
 * Gets the data of a commit. Returns 0, or ERR_CORRUPT if parts of the file
 * contradict each other.
 */
int commit_graph_entry(struct commit_graph_entry *entry,
		       const struct commit_graph *graph, uint32_t graph_pos,
		       struct error *err);

/*
 * Stores the positions of a commit's parents in `parents`, which has room for
 * `max`. Returns the number of all parents, or ERR_CORRUPT. If this number is
 * larger than `max`, only the first `max` were stored; call again with more
 * room.
 */
int commit_graph_parents(const struct commit_graph *graph, uint32_t graph_pos,
			 uint32_t *parents, size_t max, struct error *err);

/* A changed-path filter of a commit (bloom.h). */
struct commit_graph_filter {
	const uint8_t *bytes;
	uint32_t len; /* 0: not computed */
};

/*
 * Sets *filter to the filter of a commit. Requires graph_pos < nr. filter->len
 * is 0 if the commit has no filter, or if the settings of its filter differ
 * from `settings`.
 */
void commit_graph_filter(struct commit_graph_filter *filter,
			 const struct commit_graph *graph, uint32_t graph_pos,
			 const struct bloom_settings *settings);

/*
 * Sets *version to the version of changed-path filters to read and write. -1
 * means the version of the existing filters, and 0 means that filters are not
 * read. The value may be an unknown version, which
 * commit_graph_filter_version_is_known() refuses. Returns 0 or ERR_INVALID.
 *
 * The version is the value of commitGraph.changedPathsVersion. If this key is
 * not set, the version is 0 if commitGraph.readChangedPaths is false, otherwise
 * -1.
 */
int commit_graph_filter_version(int64_t *version, const struct config *config,
				struct error *err);

static inline bool commit_graph_filter_version_is_known(int64_t version)
{
	return version >= -1 && version <= 2;
}

/*
 * Sets *settings to the filter settings of the topmost layer that has filters.
 * Returns false if no layer has filters.
 */
bool commit_graph_filter_settings(struct bloom_settings *settings,
				  const struct commit_graph *graph);

#endif
