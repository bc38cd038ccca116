/* SPDX-License-Identifier: MIT */
/*
 * Counters that the processes of a server share, and their text for Prometheus.
 * Knows nothing of Git.
 *
 * A family is a name with labels. Each label has a fixed list of values, so the
 * number of cells is known in advance, and no client can add cells. A family
 * with the labels service (2 values) and result (3 values) has 6 cells:
 *
 *     cell = service * 3 + result
 *
 * A cell is usually one number. A cell of a histogram has several numbers: one
 * for each bound, one for observations above the last bound, and the sum.
 * Several threads and processes may call all functions. No function waits,
 * because the numbers are atomic. A process that is killed leaves no lock.
 */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define METRICS_LABELS_MAX 5

enum metrics_kind {
	METRICS_COUNTER,
	METRICS_GAUGE,
	METRICS_HISTOGRAM,
};

struct metrics_label {
	const char *name;
	const char *const *values;
	unsigned nr; /* number of values */
};

/*
 * The description of a family: a metric and its labels. All pointers are
 * borrowed.
 */
struct metrics_family {
	const char *name; /* without "_total" */
	const char *help; /* one line */
	enum metrics_kind kind;
	/*
	 * 1: the number is printed as it is counted; 1000000: it is counted in
	 * microseconds, and printed in seconds
	 */
	uint64_t scale;
	const struct metrics_label *labels[METRICS_LABELS_MAX];
	unsigned label_nr;
	/*
	 * for a histogram: upper bounds in ascending order, in the unit of the
	 * cells
	 */
	const uint64_t *bounds;
	unsigned bound_nr;
};

struct metrics;

/*
 * Allocates the values of `nr` families (metrics with their labels), all zero.
 * Child processes of sys_fork() share the values. `families` is borrowed.
 * Returns NULL if memory runs out.
 */
struct metrics *metrics_new(const struct metrics_family *families, size_t nr,
			    struct error *err);

/*
 * Works like metrics_new(), and keeps the values in a file. All processes that
 * open the file share the values, and the values outlive the processes. The
 * file does not record the families. So callers that pass different `families`
 * must use different files. Returns NULL after an error.
 */
struct metrics *metrics_open(const struct metrics_family *families, size_t nr,
			     const char *path, struct error *err);

/* Releases the memory in this process. NULL is allowed. */
void metrics_free(struct metrics *m);

/*
 * Adds `number` to a counter or gauge. values[i] is an index in the list of
 * values of label i. `values` is NULL for a family without labels.
 */
void metrics_add(struct metrics *m, unsigned family, const unsigned *values,
		 uint64_t number);

/* Sets a gauge. */
void metrics_set(struct metrics *m, unsigned family, const unsigned *values,
		 uint64_t number);

/* Adds one observation to a histogram. */
void metrics_observe(struct metrics *m, unsigned family, const unsigned *values,
		     uint64_t number);

/* Returns the value of a counter or gauge. */
uint64_t metrics_get(const struct metrics *m, unsigned family,
		     const unsigned *values);

enum metrics_format {
	/* Prometheus text format 0.0.4 */
	METRICS_PROMETHEUS,
	METRICS_OPENMETRICS, /* OpenMetrics 1.0.0 */
};

/*
 * Appends the text of all families. Numbers that are zero are left out, except
 * those of a family without labels. Returns 0 or ERR_NOMEM.
 */
int metrics_print(struct buf *out, const struct metrics *m,
		  enum metrics_format format);

/*
 * Works like metrics_print(), but without the line that ends the text, so that
 * the caller can append more metrics.
 */
int metrics_print_part(struct buf *out, const struct metrics *m,
		       enum metrics_format format);

#endif
