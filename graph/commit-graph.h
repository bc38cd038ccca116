/* SPDX-License-Identifier: MIT */
/*
 * Commit-graph files, read only: objects/info/commit-graph or the chain in
 * objects/info/commit-graphs/ (gitformat-commit-graph(5)).
 *
 * `graph_pos` numbers the commits of the whole chain, base layer first, as
 * the format does. Immutable; threads may share it.
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

/* The data of one commit. */
struct commit_graph_entry {
	const uint8_t *oid;  /* raw id */
	const uint8_t *tree; /* raw id of its tree */
	uint64_t date;       /* committer date, seconds since 1970 */
	uint64_t corrected;  /* generation number v2; 0: not to be had */
	uint32_t level;      /* topological level (generation number v1); 0
				when the file does not have it */
};

/*
 * Open the graph of the first object directory that has one. Returns 1, 0
 * when there is none (or core.commitGraph is false, or grafts, replace refs
 * or a shallow file make it unusable), with *out NULL; or a negative error:
 * the caller goes on without it and warns. Of a chain with layers that cannot
 * be opened, the ones below these are used.
 */
int commit_graph_open(struct commit_graph **out, const struct odb *odb,
		      struct error *err);
void commit_graph_close(struct commit_graph *graph);

/*
 * Whether a commit-graph may be written here: 1; 0 where core.commitGraph is
 * false, or commits have other parents than they say (grafts, a shallow
 * repository); or negative. Replace refs do not matter: a graph is of what the
 * commits themselves say, and is not read as long as there are any.
 */
int commit_graph_is_writable(const struct repo *repo, struct error *err);

/*
 * Check the checksums of all layers, for those who act on what commits do not
 * reach. O(bytes). 0, ERR_CORRUPT or ERR_NOMEM.
 */
int commit_graph_verify(const struct commit_graph *graph, struct error *err);

/* Number of commits in all layers. */
uint32_t commit_graph_nr(const struct commit_graph *graph);

/* Whether its commits have levels: old files have none. */
bool commit_graph_has_generations(const struct commit_graph *graph);

bool commit_graph_find(const struct commit_graph *graph, const uint8_t *raw,
		       uint32_t *graph_pos);

/* Raw id of a commit; NULL when there is no such position. */
const uint8_t *commit_graph_oid_raw(const struct commit_graph *graph,
				    uint32_t graph_pos);

/* Data of a commit; ERR_CORRUPT when the file's parts disagree. */
int commit_graph_entry(struct commit_graph_entry *entry,
		       const struct commit_graph *graph, uint32_t graph_pos,
		       struct error *err);

/*
 * Graph positions of its parents, at most `max` written to `parents`. Returns
 * how many there are (the caller asks again when more than max), or
 * ERR_CORRUPT.
 */
int commit_graph_parents(const struct commit_graph *graph, uint32_t graph_pos,
			 uint32_t *parents, size_t max, struct error *err);

/* A changed-path filter (bloom.h). */
struct commit_graph_filter {
	const uint8_t *bytes;
	uint32_t len; /* 0: not computed */
};

/*
 * The filter of a commit, graph_pos < nr; of no bytes where there is none, or
 * one of other settings.
 */
void commit_graph_filter(struct commit_graph_filter *filter,
			 const struct commit_graph *graph, uint32_t graph_pos,
			 const struct bloom_settings *settings);

/*
 * The version of filters to read and write, as commitGraph.changedPathsVersion
 * says: -1, the default: as there are; 0: none are read; 1 or 2. Where it is
 * not set, commitGraph.readChangedPaths counts. Values that Git does not have
 * are 0. 0 or ERR_INVALID.
 */
int commit_graph_filter_version(int64_t *version, const struct config *config,
				struct error *err);

/* Settings of the filters of the topmost layer that has any; false: none. */
bool commit_graph_filter_settings(struct bloom_settings *settings,
				  const struct commit_graph *graph);

#endif
