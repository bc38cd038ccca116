/* SPDX-License-Identifier: MIT */
/*
 * The status of the server at one moment, as a page for people (HTML) and as
 * JSON. The page needs no script and no other file.
 */
#ifndef STATUS_STATUS_H
#define STATUS_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "status/board.h"
#include "status/statistics.h"

/*
 * Limits of the lists that are shown. The list of running requests has at most
 * STATUS_FLIGHTS_MAX requests that threads answer, and as many answers that are
 * being sent.
 */
#define STATUS_FLIGHTS_MAX 50
#define STATUS_COSTS_SHOWN_MAX 20

/*
 * The store in which the server's repositories are, and the cache with local
 * copies of them.
 */
struct status_store {
	/* false: the server has no store, and nothing is shown */
	bool is_used;
	/*
	 * Numbers of requests to the store: all, and those that failed. Two
	 * answers are not failures: the file does not exist; or the condition
	 * of a request does not hold, for example for a write that must not
	 * replace a newer file.
	 */
	uint64_t requests, failures;
	uint64_t received, sent; /* bytes of files */
	/*
	 * time of the last request to the store that was no failure (see
	 * above), in seconds since 1970; 0: there was none
	 */
	uint64_t answered;
	/*
	 * Each request of a client needs the local copy of a repository. This
	 * array has one count of requests for each result of the search for the
	 * copy (stored_lookup_name()). Examples of results: the cache had the
	 * copy already; the store does not have the repository.
	 */
	struct status_count lookups[STATUS_COUNTS_MAX];
	size_t lookup_nr;
	uint64_t downloads, evictions;
	/* bytes of the cache, and its budget; 0: no limit */
	uint64_t bytes, limit;
};

struct status {
	/* "<name>/<version>"; borrowed */
	const char *agent;
	struct status_now now;
	/* the running requests, the oldest first */
	struct status_slot_view flights[2 * STATUS_FLIGHTS_MAX];
	size_t flight_nr;
	/* sys_clock_ns() when the status was taken */
	uint64_t taken_ns;
	/* time at which the status was taken, in seconds since 1970 */
	int64_t taken;
	struct status_board_view boards[STATUS_BOARDS_MAX];
	size_t board_nr;
	/* the most CPU time first */
	struct status_cost costs[STATUS_COSTS_MAX];
	/* at most STATUS_COSTS_SHOWN_MAX */
	size_t cost_nr;
	struct status_slow slow[STATUS_SLOW_MAX];
	size_t slow_nr;
	struct status_count reasons[STATUS_COUNTS_MAX];
	size_t reason_nr;
	struct status_count plans[STATUS_COUNTS_MAX];
	size_t plan_nr;
	struct status_store store; /* the caller fills it */
};

/*
 * Takes the status from the memory that the processes share. The caller fills
 * in s->now.admission and s->store.
 */
void status_take(struct status *s, const struct status_boards *boards,
		 const struct statistics *statistics);

/* Returns the nanoseconds since a running request began. */
uint64_t status_flight_age(const struct status *s,
			   const struct status_slot_view *flight);

/*
 * Returns what the server does for a running request: "work" (a thread answers
 * the request) or "send" (the answer is made, and is being sent).
 */
const char *status_flight_phase(const struct status_slot_view *flight);

/* Returns how many seconds ago the store gave its last useful answer. */
uint64_t status_store_age(const struct status *s);

/*
 * Append the status, as JSON or as an HTML page. Both functions return 0 or
 * ERR_NOMEM.
 */
int status_print_json(struct buf *out, const struct status *s);
int status_print_html(struct buf *out, const struct status *s);

#endif
