/* SPDX-License-Identifier: MIT */
/* Counts requests to a store and the use of a cache, in a shared file. */
#include <stdlib.h>

#include "base/mem.h"
#include "stored/counts.h"
#include "stored/fetch.h"
#include "sys/clock.h"

/*
 * Name of the file. Whenever `families` changes, the number in the name must be
 * raised: a program of an older version then uses another file.
 */
#define FILE_NAME "counts-1"

struct stored_counts {
	struct metrics *metrics; /* owned */
};

/* ---- families */

/* Names of enum filestore_operation. */
static const char *const operations[STORE_OPERATIONS] = {"read", "head", "put",
							 "list", "delete"};

enum status {
	STATUS_OK,
	STATUS_ABSENT,
	STATUS_CONFLICT,
	STATUS_UNKNOWN,
	STATUS_UNAVAILABLE,
	STATUS_DENIED,
	STATUS_ERROR,
	STATUS_NR,
};

static const char *const statuses[STATUS_NR] = {
	"ok", "absent", "conflict", "unknown", "unavailable", "denied", "error",
};

/* Names of enum stored_lookup. */
static const char *const lookups[STORED_LOOKUPS] = {
	"hit", "refreshed", "made", "stale", "missing", "failed",
};

static const struct metrics_label operation = {"operation", operations,
					       STORE_OPERATIONS};
static const struct metrics_label status = {"status", statuses, STATUS_NR};
static const struct metrics_label lookup = {"result", lookups, STORED_LOOKUPS};

/* microseconds */
static const uint64_t bounds[] = {1000,    2500,    5000,     10000,   25000,
				  50000,   100000,  250000,   500000,  1000000,
				  2500000, 5000000, 10000000, 30000000};

enum family {
	REQUESTS,
	DURATION,
	RECEIVED,
	SENT,
	ANSWERED,
	LOOKUPS,
	DOWNLOADS,
	EVICTIONS,
	CACHE_BYTES,
	CACHE_LIMIT,
	FAMILY_NR,
};

static const struct metrics_family families[FAMILY_NR] = {
	[REQUESTS] = {.name = "gitreach_store_requests",
		      .help = "Requests to the store. Retries after a failure "
			      "are not counted.",
		      .kind = METRICS_COUNTER,
		      .scale = 1,
		      .labels = {&operation, &status},
		      .label_nr = 2},
	[DURATION] = {.name = "gitreach_store_request_seconds",
		      .help = "Time of a request to the store.",
		      .kind = METRICS_HISTOGRAM,
		      .scale = 1000000,
		      .labels = {&operation},
		      .label_nr = 1,
		      .bounds = bounds,
		      .bound_nr = ARRAY_NR(bounds)},
	[RECEIVED] = {.name = "gitreach_store_received_bytes",
		      .help = "Bytes of files that were read from the store.",
		      .kind = METRICS_COUNTER,
		      .scale = 1},
	[SENT] = {.name = "gitreach_store_sent_bytes",
		  .help = "Bytes of files that were written to the store.",
		  .kind = METRICS_COUNTER,
		  .scale = 1},
	[ANSWERED] = {.name = "gitreach_store_answered_timestamp_seconds",
		      .help = "When the store last answered, in seconds since "
			      "1970.",
		      .kind = METRICS_GAUGE,
		      .scale = 1},
	[LOOKUPS] = {.name = "gitreach_cache_lookups",
		     .help = "Requests for repositories of the store, by how "
			     "the local copy was found.",
		     .kind = METRICS_COUNTER,
		     .scale = 1,
		     .labels = {&lookup},
		     .label_nr = 1},
	[DOWNLOADS] = {.name = "gitreach_cache_downloads",
		       .help = "Files that were downloaded into the cache.",
		       .kind = METRICS_COUNTER,
		       .scale = 1},
	[EVICTIONS] = {.name = "gitreach_cache_evictions",
		       .help = "Local copies that were removed for space.",
		       .kind = METRICS_COUNTER,
		       .scale = 1},
	[CACHE_BYTES] = {.name = "gitreach_cache_bytes",
			 .help = "Size of the cache when it was last measured, "
				 "plus the bytes downloaded since.",
			 .kind = METRICS_GAUGE,
			 .scale = 1},
	[CACHE_LIMIT] =
		{.name = "gitreach_cache_limit_bytes",
		 .help = "Maximum size of the cache in bytes; 0: no limit.",
		 .kind = METRICS_GAUGE,
		 .scale = 1},
};

/* ---- opening */

struct stored_counts *stored_counts_open(const char *dir)
{
	struct stored_counts *counts = mem_calloc(1, sizeof(*counts));
	char *path = stored_join(dir, FILE_NAME, NULL);

	if (counts && path)
		counts->metrics = metrics_open(families, FAMILY_NR, path, NULL);
	free(path);
	if (counts && counts->metrics)
		return counts;
	free(counts);
	return NULL;
}

void stored_counts_close(struct stored_counts *counts)
{
	if (!counts)
		return;
	metrics_free(counts->metrics);
	free(counts);
}

/* ---- counting */

static unsigned status_of(int ret)
{
	switch (ret) {
	case 0:
		return STATUS_OK;
	case STORE_ABSENT:
		return STATUS_ABSENT;
	case STORE_CONFLICT:
		return STATUS_CONFLICT;
	case STORE_AMBIGUOUS:
		return STATUS_UNKNOWN;
	case STORE_UNAVAILABLE:
		return STATUS_UNAVAILABLE;
	case ERR_DENIED:
		return STATUS_DENIED;
	default:
		return STATUS_ERROR;
	}
}

/*
 * Returns whether a value of enum status means that a request to the store did
 * not fail. The answers "no such file" and "the condition is false" are not
 * failures.
 */
static bool is_answer(unsigned value)
{
	return value <= STATUS_CONFLICT;
}

static void count(void *ctx, const struct filestore_event *event)
{
	const struct stored_counts *counts = ctx;
	struct metrics *m = counts->metrics;
	const unsigned values[] = {event->operation, status_of(event->ret)};

	metrics_add(m, REQUESTS, values, 1);
	metrics_observe(m, DURATION, values, event->ns / 1000);
	metrics_add(m, RECEIVED, NULL, event->received);
	metrics_add(m, SENT, NULL, event->sent);
	if (is_answer(values[1]))
		metrics_set(m, ANSWERED, NULL, (uint64_t)sys_clock_seconds());
}

void stored_counts_watch(struct stored_counts *counts, struct filestore *store)
{
	const struct filestore_watch watch = {count, counts};

	if (counts)
		filestore_watch(store, &watch);
}

const char *stored_lookup_name(enum stored_lookup result)
{
	return lookups[result];
}

void stored_counts_lookup(struct stored_counts *counts,
			  enum stored_lookup result)
{
	const unsigned value = result;

	if (counts)
		metrics_add(counts->metrics, LOOKUPS, &value, 1);
}

void stored_counts_download(struct stored_counts *counts, uint64_t bytes)
{
	if (!counts)
		return;
	metrics_add(counts->metrics, DOWNLOADS, NULL, 1);
	metrics_add(counts->metrics, CACHE_BYTES, NULL, bytes);
}

void stored_counts_trim(struct stored_counts *counts, uint64_t bytes,
			uint64_t evicted)
{
	if (!counts)
		return;
	metrics_set(counts->metrics, CACHE_BYTES, NULL, bytes);
	metrics_add(counts->metrics, EVICTIONS, NULL, evicted);
}

/* ---- reading */

void stored_counts_look(struct stored_counts_view *out,
			const struct stored_counts *counts)
{
	const struct metrics *m = counts ? counts->metrics : NULL;

	*out = (struct stored_counts_view){0};
	if (!m)
		return;
	for (unsigned i = 0; i < STORE_OPERATIONS; i++)
		for (unsigned j = 0; j < STATUS_NR; j++) {
			const unsigned values[] = {i, j};
			uint64_t nr = metrics_get(m, REQUESTS, values);

			out->requests += nr;
			out->failures += is_answer(j) ? 0 : nr;
		}
	for (unsigned i = 0; i < STORED_LOOKUPS; i++)
		out->lookups[i] = metrics_get(m, LOOKUPS, &i);
	out->received = metrics_get(m, RECEIVED, NULL);
	out->sent = metrics_get(m, SENT, NULL);
	out->answered = metrics_get(m, ANSWERED, NULL);
	out->downloads = metrics_get(m, DOWNLOADS, NULL);
	out->evictions = metrics_get(m, EVICTIONS, NULL);
	out->cache_bytes = metrics_get(m, CACHE_BYTES, NULL);
}

int stored_counts_print(struct buf *out, struct stored_counts *counts,
			uint64_t limit, enum metrics_format format)
{
	if (!counts)
		return 0;
	metrics_set(counts->metrics, CACHE_LIMIT, NULL, limit);
	return metrics_print_part(out, counts->metrics, format);
}
