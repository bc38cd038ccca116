/* SPDX-License-Identifier: MIT */
/*
 * What the server has done: counters, the repositories that cost most, and the
 * last slow requests. Workers write them, and the admin process shows them.
 * They are in memory that all processes share. There are no locks, so a crashed
 * worker cannot leave a lock locked.
 *
 *	summary of a request -> counters (metrics/metrics.h)
 *	                     -> repositories: cost, halved every 10 minutes
 *	                     -> slow requests: a ring
 */
#ifndef DAEMON_STATISTICS_H
#define DAEMON_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "admission/admission.h"
#include "base/buf.h"
#include "base/error.h"
#include "daemon/board.h"
#include "metrics/metrics.h"
#include "sys/tcp.h"
#include "wire/summary.h"

struct daemon_statistics;

/* Returns empty statistics, or NULL if memory runs out. */
struct daemon_statistics *daemon_statistics_new(struct error *err);

/* Releases the memory in this process. NULL is allowed. */
void daemon_statistics_free(struct daemon_statistics *st);

/*
 * Counts a request that has ended. If it took at least `slow_us` without the
 * waits for the client, it becomes one of the slow requests. `error` is NULL if
 * the request succeeded.
 */
void daemon_statistics_add(struct daemon_statistics *st,
			   const struct summary *s, const struct error *error,
			   uint64_t slow_us);

/* A request that a child process has answered, as seen from outside. */
struct daemon_child_request {
	const char *path; /* path of the repository */
	/* numeric address; NULL: unknown */
	const char *client;
	const char *user; /* NULL: none */
	/* values of the labels "service" and "command"; static strings */
	const char *service, *command;
	bool has_failed;
	uint64_t total_us, cpu_us;
};

/* Counts a request that a child process has answered. */
void daemon_statistics_add_child(struct daemon_statistics *st,
				 const struct daemon_child_request *request,
				 uint64_t slow_us);

/* Counts the wait of a request that asked for admission. */
void daemon_statistics_add_wait(struct daemon_statistics *st, uint64_t us);

/* Counts a worker that has crashed. */
void daemon_statistics_add_crash(struct daemon_statistics *st);

/* ---- reading */

/* The packs of a repository when a request last opened or used them. */
struct daemon_packs {
	uint64_t nr;
	/* when the newest and the oldest were written: seconds since 1970 */
	uint64_t newest, oldest;
};

/* Records the packs of the repository at `path`. */
void daemon_statistics_note_packs(struct daemon_statistics *st,
				  const char *path,
				  const struct daemon_packs *packs);

/*
 * The cost of a repository: its requests, time and bytes, halved every ten
 * minutes.
 */
struct daemon_cost {
	char path[DAEMON_PATH_MAX];
	uint64_t requests, cpu_us, bytes_sent;
	struct daemon_packs packs; /* nr 0: unknown */
};

/* The number of repositories that are counted at the same time. */
#define DAEMON_COSTS_MAX 512

/*
 * Copies the repositories with a cost to `costs`, in no order. Returns their
 * number.
 */
size_t daemon_statistics_costs(const struct daemon_statistics *st,
			       struct daemon_cost costs[DAEMON_COSTS_MAX]);

#define DAEMON_SLOW_USER_MAX 64

/* A slow request. Texts that are too long were cut off. */
struct daemon_slow {
	int64_t end; /* seconds since 1970 */
	char path[DAEMON_PATH_MAX];
	char client[SYS_ADDRESS_MAX];    /* "": unknown */
	char user[DAEMON_SLOW_USER_MAX]; /* "": none */
	char error[128];                 /* "": none */
	char command[16];
	/* values of the labels "strategy" and "reason"; static strings */
	const char *strategy, *reason;
	uint64_t phases_us[SUMMARY_PHASE_NR];
	/* These four and the phases are 0 if a child process has answered. */
	uint64_t wait_read_us, wait_send_us, objects, bytes_sent;
	uint64_t total_us, cpu_us;
};

#define DAEMON_SLOW_MAX 100

/*
 * Copies the last slow requests to `slow`, the newest first. Returns their
 * number.
 */
size_t daemon_statistics_slow(const struct daemon_statistics *st,
			      struct daemon_slow slow[DAEMON_SLOW_MAX]);

/* The number that a counter has for one value of a label. */
struct daemon_count {
	/* value of the label; a static string */
	const char *value;
	uint64_t nr;
};

#define DAEMON_COUNTS_MAX 16

/*
 * Copies how often bitmaps were not used, for each reason that has occurred.
 * Returns the number of reasons.
 */
size_t daemon_statistics_reasons(const struct daemon_statistics *st,
				 struct daemon_count counts[DAEMON_COUNTS_MAX]);

/*
 * Copies how often packs were sent by plans, for each result that has occurred:
 * hit, joined, miss and bypass. Returns the number of results.
 */
size_t daemon_statistics_plans(const struct daemon_statistics *st,
			       struct daemon_count counts[DAEMON_COUNTS_MAX]);

/*
 * Numbers of the present moment, which the admin process sums up over all
 * boards.
 */
struct daemon_now {
	uint64_t connections, requests, snapshots, workers, plan_bytes;
	struct admission_view admission;
};

/*
 * Appends the counters as text for Prometheus, with the gauges of *now. Returns
 * 0 or ERR_NOMEM.
 */
int daemon_statistics_print(struct buf *out, struct daemon_statistics *st,
			    const struct daemon_now *now,
			    enum metrics_format format);

#endif
