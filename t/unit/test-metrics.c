/* SPDX-License-Identifier: MIT */
/*
 * Tests of metrics/metrics.c: counters that processes share, and their text for
 * Prometheus.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "metrics/metrics.h"

static const char *const colors[] = {"red", "green"};
static const char *const sizes[] = {"s", "m", "l"};
static const struct metrics_label color = {"color", colors, 2};
static const struct metrics_label size = {"size", sizes, 3};
static const uint64_t bounds[] = {1000, 2500000};

enum { BOXES, OPEN, TIME, SPENT };

static const struct metrics_family families[] = {
	[BOXES] = {"t_boxes",
		   "Boxes.",
		   METRICS_COUNTER,
		   1,
		   {&color, &size},
		   2,
		   NULL,
		   0},
	[OPEN] = {"t_open", "Open.", METRICS_GAUGE, 1, {NULL}, 0, NULL, 0},
	[TIME] = {"t_time_seconds",
		  "Time.",
		  METRICS_HISTOGRAM,
		  1000000,
		  {&color},
		  1,
		  bounds,
		  2},
	[SPENT] = {"t_spent_seconds",
		   "Spent.",
		   METRICS_COUNTER,
		   1000000,
		   {NULL},
		   0,
		   NULL,
		   0},
};

static void check(const struct metrics *m, enum metrics_format format,
		  const char *want)
{
	struct buf text = BUF_INIT;

	assert_int_equal(metrics_print(&text, m, format), 0);
	assert_string_equal(text.data, want);
	buf_release(&text);
}

/*
 * A counter that was never changed is left out of the text if its family has
 * labels. If the family has no labels, the counter is printed with the value 0.
 */
static void test_empty(void **state)
{
	struct metrics *m = metrics_new(families, ARRAY_NR(families), NULL);

	assert_non_null(m);
	check(m, METRICS_PROMETHEUS,
	      "# HELP t_boxes_total Boxes.\n"
	      "# TYPE t_boxes_total counter\n"
	      "# HELP t_open Open.\n"
	      "# TYPE t_open gauge\n"
	      "t_open 0\n"
	      "# HELP t_time_seconds Time.\n"
	      "# TYPE t_time_seconds histogram\n"
	      "# HELP t_spent_seconds_total Spent.\n"
	      "# TYPE t_spent_seconds_total counter\n"
	      "t_spent_seconds_total 0.000000\n");
	metrics_free(m);
	metrics_free(NULL);
}

static void test_values(void **state)
{
	const unsigned red_l[] = {0, 2}, green_s[] = {1, 0}, green[] = {1};
	struct metrics *m = metrics_new(families, ARRAY_NR(families), NULL);

	metrics_add(m, BOXES, red_l, 3);
	metrics_add(m, BOXES, red_l, 4);
	metrics_add(m, BOXES, green_s, 1);
	assert_int_equal(metrics_get(m, BOXES, red_l), 7);
	metrics_set(m, OPEN, NULL, 9);
	metrics_set(m, OPEN, NULL, 5);
	metrics_add(m, SPENT, NULL, 12000345);
	/*
	 * An observed value that equals the bound of a histogram bucket is
	 * counted in this bucket.
	 */
	metrics_observe(m, TIME, green, 1000);
	metrics_observe(m, TIME, green, 1001);
	metrics_observe(m, TIME, green, 2500001);
	check(m, METRICS_OPENMETRICS,
	      "# HELP t_boxes Boxes.\n"
	      "# TYPE t_boxes counter\n"
	      "t_boxes_total{color=\"red\",size=\"l\"} 7\n"
	      "t_boxes_total{color=\"green\",size=\"s\"} 1\n"
	      "# HELP t_open Open.\n"
	      "# TYPE t_open gauge\n"
	      "t_open 5\n"
	      "# HELP t_time_seconds Time.\n"
	      "# TYPE t_time_seconds histogram\n"
	      "t_time_seconds_bucket{color=\"green\",le=\"0.001000\"} 1\n"
	      "t_time_seconds_bucket{color=\"green\",le=\"2.500000\"} 2\n"
	      "t_time_seconds_bucket{color=\"green\",le=\"+Inf\"} 3\n"
	      "t_time_seconds_sum{color=\"green\"} 2.502002\n"
	      "t_time_seconds_count{color=\"green\"} 3\n"
	      "# HELP t_spent_seconds Spent.\n"
	      "# TYPE t_spent_seconds counter\n"
	      "t_spent_seconds_total 12.000345\n"
	      "# EOF\n");
	metrics_free(m);
}

/* The parent process sees the numbers that a child process has added. */
static void test_shared(void **state)
{
	struct metrics *m = metrics_new(families, ARRAY_NR(families), NULL);
	const unsigned values[] = {1, 1};
	pid_t pid = fork();
	int status;

	if (!pid) {
		metrics_add(m, BOXES, values, 2);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(metrics_get(m, BOXES, values), 2);
	metrics_free(m);
}

/*
 * Counters that are stored in a file survive a restart of the process.
 * metrics_print_part() leaves out the end marker, so that the caller can append
 * other families.
 */
static void test_file(void **state)
{
	char path[] = "/tmp/gitreach-metrics-XXXXXX";
	const unsigned values[] = {1, 1};
	struct buf part = BUF_INIT, whole = BUF_INIT;
	struct metrics *m;

	assert_true(close(mkstemp(path)) == 0);
	for (int i = 1; i <= 2; i++) {
		m = metrics_open(families, ARRAY_NR(families), path, NULL);
		assert_non_null(m);
		metrics_add(m, BOXES, values, 2);
		assert_int_equal(metrics_get(m, BOXES, values), 2 * i);
		if (i < 2)
			metrics_free(m);
	}
	assert_int_equal(metrics_print_part(&part, m, METRICS_OPENMETRICS), 0);
	assert_int_equal(metrics_print(&whole, m, METRICS_OPENMETRICS), 0);
	assert_memory_equal(whole.data, part.data, part.len);
	assert_string_equal(whole.data + part.len, "# EOF\n");
	metrics_free(m);
	buf_release(&part);
	buf_release(&whole);
	unlink(path);
	assert_null(
		metrics_open(families, ARRAY_NR(families), "/dev/full", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
