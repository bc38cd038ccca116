/* SPDX-License-Identifier: MIT */
/*
 * The parts of git requests, which sums up logs of requests.
 *
 *	files -> lines (requests-read.c) -> sums (requests-sum.c)
 *	      -> text or JSON (requests-print.c)
 *
 * A log is read once, from its start to its end. Memory does not grow with the
 * log: a line, the slowest requests, and the groups of each table are limited.
 */
#ifndef BUILTIN_REQUESTS_PARTS_H
#define BUILTIN_REQUESTS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "wire/record.h"

/* Maximum length of a line in bytes. A longer line counts as broken. */
#define REQUESTS_LINE_MAX 262144
/* Maximum number of tables in one run. */
#define REQUESTS_TABLES_MAX 16
/*
 * Maximum number of groups in a table. If a table is full, its groups are
 * sorted in print order, and the second half is merged into one group.
 */
#define REQUESTS_GROUPS_MAX 16384
/* Maximum length of a group's name in bytes. A longer name is cut off. */
#define REQUESTS_NAME_MAX 1024
/* Maximum value of --slowest and --top. */
#define REQUESTS_SHOWN_MAX 1000

/* The values by which requests and groups can be sorted, the largest first. */
enum requests_sort {
	/* duration, without the time spent waiting for the client */
	REQUESTS_BY_TIME,
	REQUESTS_BY_TOTAL,
	REQUESTS_BY_CPU,
	REQUESTS_BY_SENT,
	/*
	 * sort groups by the number of requests; single requests are sorted by
	 * time
	 */
	REQUESTS_BY_REQUESTS,
};

/* The cost of one request, or the sum for several requests. */
struct requests_cost {
	uint64_t requests, failed;
	/* the time in microseconds, without the waits for the client */
	uint64_t time_us;
	uint64_t total_us, cpu_us, bytes_sent;
	/* the largest time_us of one request */
	uint64_t most_us;
};

/* The requests whose JSON records have the same value in one member. */
struct requests_group {
	/*
	 * owned: the value of the member, in printable characters; "-" if the
	 * value is null or the member is missing
	 */
	char *name;
	uint64_t hash;
	/* number by which groups are sorted; see enum requests_sort */
	uint64_t key;
	struct requests_cost cost;
};

struct requests_table {
	/*
	 * borrowed: name of a JSON member of the records; requests with the
	 * same value of this member are one group
	 */
	const char *by;
	struct requests_group *groups; /* owned */
	size_t nr, alloc;
	/* owned hash table: 1 + an index into `groups`, or 0 for a free slot */
	uint32_t *slots;
	/*
	 * Total cost of the groups that were removed because the table was
	 * full, and the number of these groups.
	 */
	struct requests_cost others;
	uint64_t other_nr;
};

/* One of the slowest requests, with its line of the log. */
struct requests_slow {
	/* requests are sorted by this number; see enum requests_sort */
	uint64_t key;
	/*
	 * number of the record's line; decides the order of requests with equal
	 * keys
	 */
	uint64_t line_nr;
	char *line; /* owned: the whole line */
	size_t len;
};

struct requests_sums {
	/* The caller sets the fields from here down to `tables`. */
	enum requests_sort sort;
	/* count only requests that ended in [since, until) */
	uint64_t since_us, until_us;
	/* Count only requests to this repository. NULL: count all requests. */
	const char *repository;
	/* number of slow requests to list; at most REQUESTS_SHOWN_MAX */
	size_t slow_max;
	/* number of tables; the caller sets `by` of each table */
	size_t table_nr;
	struct requests_table tables[REQUESTS_TABLES_MAX];
	/* results: */
	struct requests_cost all;
	/*
	 * times at which the first and the last counted request ended; 0: no
	 * request was counted
	 */
	uint64_t first_us, last_us;
	/* number of lines that are not trace events */
	uint64_t broken_nr;
	/* number of trace events that are not about requests */
	uint64_t other_nr;
	uint64_t line_nr;
	/*
	 * Owned: the slowest requests so far, in a heap. slow[0] is the first
	 * to be dropped for a slower request. requests_sums_finish() sorts the
	 * array.
	 */
	struct requests_slow *slow;
	size_t slow_nr;
};

/* ---- requests-sum.c */

/*
 * Counts the request whose record is in a line of a log. `line` has no line
 * feed. Returns 0 or ERR_NOMEM.
 */
int requests_sums_add(struct requests_sums *sums, const char *line, size_t len);

/* Sorts the slowest requests and the groups, the largest first. */
void requests_sums_finish(struct requests_sums *sums);
void requests_sums_release(struct requests_sums *sums);

/* Sets *cost from the record of one request. */
void requests_cost_of(struct requests_cost *cost, const struct record *record);

/* Replaces control characters in valid UTF-8 by '?'. */
void requests_make_printable(char *text, size_t len);

/* ---- requests-read.c */

/*
 * Counts the requests in all lines of the file `path`; "-" is standard input.
 * Returns 0 or a negative error code.
 */
int requests_read(struct requests_sums *sums, const char *path,
		  struct error *err);

/* ---- requests-print.c */

/*
 * Print the sums as text or JSON, with at most `top` groups of each table. Both
 * functions return 0 or ERR_NOMEM.
 */
int requests_print_text(const struct requests_sums *sums, size_t top);
int requests_print_json(const struct requests_sums *sums, size_t top);

/* Print the lines of the slowest requests. */
void requests_print_records(const struct requests_sums *sums);

#endif
