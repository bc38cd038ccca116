/* SPDX-License-Identifier: MIT */
/*
 * Counters of a node: requests to its store, and the use of its cache. The
 * counters are in the file <cache>/counts-1, so all processes of the cache
 * directory share them: workers of servers, processes that receive pushes, and
 * commands. The counters are never reset while the cache exists.
 *
 * All functions are safe in several threads and processes. A pointer to struct
 * stored_counts may be NULL: then nothing is counted.
 */
#ifndef STORED_COUNTS_H
#define STORED_COUNTS_H

#include "metrics/metrics.h"
#include "store/filestore.h"

struct stored_counts;

/*
 * Opens the counters of the cache directory `dir`. Returns NULL if the file
 * cannot be made, for example because the disk is full: a node works without
 * counters.
 */
struct stored_counts *stored_counts_open(const char *dir);
void stored_counts_close(struct stored_counts *counts);

/* From now on, counts all requests that are sent to `store`. */
void stored_counts_watch(struct stored_counts *counts, struct filestore *store);

/* How a request for a repository was answered. */
enum stored_lookup {
	/* from the local copy as it was */
	STORED_LOOKUP_HIT,
	/* from a local copy that was first updated to a newer generation */
	STORED_LOOKUP_REFRESHED,
	/* from a local copy that was made for this request */
	STORED_LOOKUP_MADE,
	/* from an old local copy, because the store did not answer */
	STORED_LOOKUP_STALE,
	/* the store does not have the repository */
	STORED_LOOKUP_MISSING,
	STORED_LOOKUP_FAILED,
	STORED_LOOKUPS,
};

/*
 * Returns the name that a value of enum stored_lookup has in the metrics, such
 * as "hit".
 */
const char *stored_lookup_name(enum stored_lookup result);

void stored_counts_lookup(struct stored_counts *counts,
			  enum stored_lookup result);

/* Counts a file of `bytes` bytes that was downloaded into the cache. */
void stored_counts_download(struct stored_counts *counts, uint64_t bytes);

/*
 * Sets the counter of the cache's size to `bytes`, and adds `evicted` to the
 * counter of removed copies.
 */
void stored_counts_trim(struct stored_counts *counts, uint64_t bytes,
			uint64_t evicted);

/* ---- reading */

/* The counters for people. */
struct stored_counts_view {
	/*
	 * Numbers of requests to the store: all, and those that failed. The
	 * answers "no such file" and "the condition of the request is false"
	 * are not failures. A condition is, for example, that a write must not
	 * replace a newer file.
	 */
	uint64_t requests, failures;
	uint64_t received, sent; /* bytes of files */
	/*
	 * time of the last request to the store that did not fail, in seconds
	 * since 1970; 0: none
	 */
	uint64_t answered;
	uint64_t lookups[STORED_LOOKUPS];
	uint64_t downloads, evictions;
	/*
	 * size of the cache when it was last measured, plus the downloads since
	 * then, in bytes
	 */
	uint64_t cache_bytes;
};

void stored_counts_look(struct stored_counts_view *out,
			const struct stored_counts *counts);

/*
 * Appends the counters as text for Prometheus. The caller may append other
 * metric families. `limit` is the budget of the cache in bytes; 0: none.
 * Returns 0 or ERR_NOMEM.
 */
int stored_counts_print(struct buf *out, struct stored_counts *counts,
			uint64_t limit, enum metrics_format format);

#endif
