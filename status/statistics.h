/* SPDX-License-Identifier: MIT */
/*
 * Statistics of the server: counters, the repositories that cost most, and the
 * last slow requests. Workers write these data, and the admin process shows
 * them. The data are in memory that all processes share. There are no locks, so
 * a crashed worker cannot leave a lock locked.
 *
 *	summary of a request -> counters (metrics/metrics.h)
 *	                     -> repositories: cost, halved every 10 minutes
 *	                     -> slow requests: a ring
 */
#ifndef STATUS_STATISTICS_H
#define STATUS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "admission/admission.h"
#include "base/buf.h"
#include "base/error.h"
#include "status/board.h"
#include "metrics/metrics.h"
#include "sys/tcp.h"
#include "wire/summary-times.h"
#include "wire/summary.h"

struct statistics;

/* Returns empty statistics, or NULL if memory runs out. */
struct statistics *statistics_new(struct error *err);

/* Releases the memory in this process. NULL is allowed. */
void statistics_free(struct statistics *st);

/*
 * Counts a request that has ended. If the request took at least `slow_us`,
 * without the waits for the client, it becomes one of the slow requests.
 * `error` is NULL if the request succeeded.
 */
void statistics_add(struct statistics *st, const struct summary *s,
		    const struct error *error, uint64_t slow_us);

/*
 * A request that a child process has answered, as seen by the parent process.
 */
struct status_child_request {
	const char *path; /* path of the repository */
	/* numeric address; NULL: unknown */
	const char *client;
	const char *user; /* NULL: none */
	/* values of the labels "service" and "command"; static strings */
	const char *service, *command;
	/* 0: the request succeeded; otherwise a negative error code */
	int code;
	uint64_t total_us, cpu_us;
	struct summary_times times; /* as the child has told them */
};

/* Counts a request that a child process has answered. */
void statistics_add_child(struct statistics *st,
			  const struct status_child_request *request,
			  uint64_t slow_us);

/* Counts the wait of a request that asked for admission. */
void statistics_add_wait(struct statistics *st, uint64_t us);

/*
 * Counts a request that the access helper has denied. `is_write`: the request
 * was for a push.
 */
void statistics_add_denial(struct statistics *st, bool is_write);

/* Counts a worker that has crashed. */
void statistics_add_crash(struct statistics *st);

/* ---- reading */

/* The packs of a repository when a request last opened or used them. */
struct status_packs {
	uint64_t nr;
	/*
	 * when the newest and the oldest pack were written: seconds since 1970
	 */
	uint64_t newest, oldest;
};

/* Records the packs of the repository at `path`. */
void statistics_note_packs(struct statistics *st, const char *path,
			   const struct status_packs *packs);

/*
 * The cost of a repository: its requests, time and bytes, halved every ten
 * minutes.
 */
struct status_cost {
	char path[STATUS_PATH_MAX];
	uint64_t requests, cpu_us, bytes_sent;
	struct status_packs packs; /* nr 0: unknown */
};

/* Maximum number of repositories whose cost is known at the same time. */
#define STATUS_COSTS_MAX 512

/*
 * Copies to `costs` the cost of each repository whose cost is known, in any
 * order. Returns the number of copied repositories.
 */
size_t statistics_costs(const struct statistics *st,
			struct status_cost costs[STATUS_COSTS_MAX]);

/* A slow request. Texts that are too long were cut off. */
struct status_slow {
	int64_t end; /* seconds since 1970 */
	char path[STATUS_PATH_MAX];
	char client[SYS_ADDRESS_MAX]; /* "": unknown */
	char user[STATUS_USER_MAX];   /* "": none */
	char error[128];              /* "": none */
	char command[16];
	/* values of the labels "strategy" and "reason"; static strings */
	const char *strategy, *reason;
	uint64_t phases_us[SUMMARY_PHASE_NR];
	uint64_t wait_read_us, wait_send_us;
	/* 0 if a child process has answered */
	uint64_t objects, bytes_sent;
	uint64_t total_us, cpu_us;
};

#define STATUS_SLOW_MAX 100

/*
 * Copies the last slow requests to `slow`, the newest first. Returns their
 * number.
 */
size_t statistics_slow(const struct statistics *st,
		       struct status_slow slow[STATUS_SLOW_MAX]);

/* The number that a counter has for one value of a label. */
struct status_count {
	/* value of the label; a static string */
	const char *value;
	uint64_t nr;
};

#define STATUS_COUNTS_MAX 16

/*
 * Copies to `counts` the reasons why bitmaps were not used, each with the
 * number of times. Reasons that have not occurred are left out. Returns the
 * number of reasons.
 */
size_t statistics_reasons(const struct statistics *st,
			  struct status_count counts[STATUS_COUNTS_MAX]);

/*
 * Copies to `counts` how many packs were sent for each result of the search for
 * a plan (a cached response): "hit", "joined", "miss" or "bypass". The records
 * of requests (wire/summary.h) use other words for the last two results: "made"
 * in place of "miss", and "bypassed" in place of "bypass". Results that have
 * not occurred are left out. Returns the number of copied results.
 */
size_t statistics_plans(const struct statistics *st,
			struct status_count counts[STATUS_COUNTS_MAX]);

/*
 * Numbers of the present moment. The admin process adds up the numbers of all
 * workers.
 */
struct status_now {
	uint64_t connections, requests, snapshots, workers, plan_bytes;
	/*
	 * number of answers that a thread has finished, and that the loop of a
	 * worker is still sending
	 */
	uint64_t sending;
	struct admission_view admission;
};

/*
 * Appends the counters, and the numbers of *now as gauges, as text for
 * Prometheus in one of its formats. Returns 0 or ERR_NOMEM.
 */
int statistics_print(struct buf *out, struct statistics *st,
		     const struct status_now *now, enum metrics_format format);

#endif
