/* SPDX-License-Identifier: MIT */
/*
 * Tests of status/statistics.c, statistics of the server: fetches are counted,
 * and the most expensive repositories and slow requests are recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "status/statistics.h"

#define SLOW_US 1000000

/* Add a fetch of a repository. */
static void add_fetch(struct statistics *st, const char *path,
		      uint64_t total_us, uint64_t wait_us,
		      const struct error *error)
{
	const struct repo repo = {.git_dir = (char *)path};
	const struct summary_about about = {.client = "192.0.2.1",
					    .user = "<b>&ann"};
	struct summary s;

	summary_init(&s, &repo, &about, "upload-pack");
	s.is_on = true;
	s.command = "fetch";
	s.entered[SUMMARY_PACK] = true;
	s.phases_ns[SUMMARY_PACK] = total_us * 1000;
	summary_u64(&s, SUMMARY_PROTOCOL, 2);
	summary_u64(&s, SUMMARY_TOTAL_US, total_us);
	summary_u64(&s, SUMMARY_WAIT_SEND_US, wait_us);
	summary_u64(&s, SUMMARY_CPU_USER_US, total_us / 2);
	summary_u64(&s, SUMMARY_BYTES_SENT, 1000);
	summary_u64(&s, SUMMARY_BYTES_VERBATIM, 900);
	summary_string(&s, SUMMARY_STRATEGY, "walk");
	summary_string(&s, SUMMARY_NO_BITMAP_REASON,
		       "there is no bitmap index");
	statistics_add(st, &s, error, SLOW_US);
	s.command = NULL;
	summary_release(&s);
}

static void test_counters(void **state)
{
	struct statistics *st = statistics_new(NULL);
	const struct status_child_request push = {
		.path = "/srv/p.git",
		.client = "192.0.2.2",
		.service = "receive-pack",
		.command = "push",
		.total_us = 2000,
		.cpu_us = 1500,
		.times = {.wait_read_us = 2500000}};
	struct status_child_request failed = push;
	const struct status_now now = {
		.connections = 4, .sending = 3, .workers = 2};
	struct error err = ERROR_INIT;
	struct buf text = BUF_INIT;

	assert_non_null(st);
	error_set(&err, ERR_PEER, "gone");
	add_fetch(st, "/srv/a.git", 3000, 0, NULL);
	add_fetch(st, "/srv/a.git", 3000, 0, &err);
	error_set(&err, ERR_CORRUPT, "bad pack");
	add_fetch(st, "/srv/a.git", 3000, 0, &err);
	statistics_add_child(st, &push, SLOW_US);
	failed.code = ERR_PEER;
	failed.cpu_us = 0;
	statistics_add_child(st, &failed, SLOW_US);
	failed.code = ERR_IO;
	statistics_add_child(st, &failed, SLOW_US);
	statistics_add_crash(st);
	statistics_add_denial(st, false);
	statistics_add_denial(st, true);
	statistics_add_denial(st, true);
	assert_int_equal(statistics_print(&text, st, &now, METRICS_OPENMETRICS),
			 0);
#define HAS(part) assert_non_null(strstr(text.data, part))
	HAS("gitreach_requests_total{service=\"upload-pack\",command=\"fetch\","
	    "protocol=\"2\",strategy=\"walk\",result=\"ok\"} 1\n");
	HAS("strategy=\"walk\",result=\"client\"} 1\n");
	HAS("strategy=\"walk\",result=\"error\"} 1\n");
	HAS("gitreach_requests_total{service=\"receive-pack\","
	    "command=\"push\",protocol=\"none\",strategy=\"none\","
	    "result=\"ok\"} 1\n");
	HAS("protocol=\"none\",strategy=\"none\",result=\"client\"} 1\n");
	HAS("protocol=\"none\",strategy=\"none\",result=\"error\"} 1\n");
	HAS("gitreach_cpu_seconds_total{service=\"upload-pack\"} 0.004500\n");
	HAS("gitreach_cpu_seconds_total{service=\"receive-pack\"} 0.001500\n");
	HAS("gitreach_sent_bytes_total{source=\"span\"} 2700\n");
	HAS("gitreach_sent_bytes_total{source=\"made\"} 300\n");
	HAS("gitreach_phase_seconds_count{phase=\"pack\"} 3\n");
	HAS("gitreach_bitmap_unused_total{"
	    "reason=\"there is no bitmap index\"} 3\n");
	HAS("gitreach_client_wait_seconds_total{direction=\"read\"} "
	    "7.500000\n");
	HAS("gitreach_worker_crashes_total 1\n");
	HAS("gitreach_access_denied_total{right=\"read\"} 1\n");
	HAS("gitreach_access_denied_total{right=\"write\"} 2\n");
	HAS("gitreach_connections 4\n");
	HAS("gitreach_responses_sending 3\n");
	HAS("gitreach_workers 2\n");
#undef HAS
	/*
	 * Text from clients must not become the value of a label of a metric.
	 */
	assert_null(strstr(text.data, "a.git"));
	assert_null(strstr(text.data, "ann"));
	buf_release(&text);
	statistics_free(st);
	statistics_free(NULL);
}

/*
 * If there are more repositories than entries in the table of costs, the most
 * expensive repositories keep their entries.
 */
static void test_costs(void **state)
{
	struct statistics *st = statistics_new(NULL);
	static struct status_cost costs[STATUS_COSTS_MAX];
	char path[64];
	size_t nr, dear = 0;

	add_fetch(st, "/srv/dear.git", 900000, 0, NULL);
	for (int i = 0; i < 4 * STATUS_COSTS_MAX; i++) {
		snprintf(path, sizeof(path), "/srv/%d.git", i);
		add_fetch(st, path, 10, 0, NULL);
	}
	add_fetch(st, "/srv/dear.git", 100000, 0, NULL);
	nr = statistics_costs(st, costs);
	assert_in_range(nr, STATUS_COSTS_MAX / 2, STATUS_COSTS_MAX);
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(costs[i].path, "/srv/dear.git") != 0)
			continue;
		dear++;
		assert_int_equal(costs[i].requests, 2);
		assert_int_equal(costs[i].cpu_us, 500000);
		assert_int_equal(costs[i].bytes_sent, 2000);
	}
	assert_int_equal(dear, 1);
	statistics_free(st);
}

/* A request is not slow if it only waits for its client. */
static void test_slow(void **state)
{
	struct statistics *st = statistics_new(NULL);
	static struct status_slow slow[STATUS_SLOW_MAX];
	char path[2 * STATUS_PATH_MAX];

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	add_fetch(st, "/srv/fast.git", SLOW_US - 1, 0, NULL);
	add_fetch(st, "/srv/waits.git", 9 * SLOW_US, 8 * SLOW_US + 1, NULL);
	assert_int_equal(statistics_slow(st, slow), 0);
	add_fetch(st, path, SLOW_US, 0, NULL);
	add_fetch(st, "/srv/newer.git", 9 * SLOW_US, 8 * SLOW_US, NULL);
	assert_int_equal(statistics_slow(st, slow), 2);
	assert_string_equal(slow[0].path, "/srv/newer.git");
	assert_string_equal(slow[0].client, "192.0.2.1");
	assert_string_equal(slow[0].command, "fetch");
	assert_string_equal(slow[0].strategy, "walk");
	assert_string_equal(slow[0].reason, "there is no bitmap index");
	assert_int_equal(slow[0].wait_send_us, 8 * SLOW_US);
	assert_int_equal(slow[0].phases_us[SUMMARY_PACK], 9 * SLOW_US);
	assert_int_equal(strlen(slow[1].path), STATUS_PATH_MAX - 1);
	for (int i = 0; i < 1000; i++)
		add_fetch(st, "/srv/many.git", SLOW_US, 0, NULL);
	assert_int_equal(statistics_slow(st, slow), STATUS_SLOW_MAX);
	assert_string_equal(slow[STATUS_SLOW_MAX - 1].path, "/srv/many.git");
	statistics_free(st);
}

/*
 * The phases of a push are those that the child process has told. A push is not
 * slow if the child only waits for the client.
 */
static void test_slow_child(void **state)
{
	struct statistics *st = statistics_new(NULL);
	static struct status_slow slow[STATUS_SLOW_MAX];
	struct status_child_request push = {
		.path = "/srv/p.git",
		.service = "receive-pack",
		.command = "push",
		.total_us = 3 * SLOW_US,
	};
	const struct status_now now = {.workers = 2};
	struct buf text = BUF_INIT;

	push.times.entered[SUMMARY_HOOKS] = true;
	push.times.phases_us[SUMMARY_HOOKS] = 2 * SLOW_US;
	push.times.wait_read_us = 2 * SLOW_US + 1;
	statistics_add_child(st, &push, SLOW_US);
	assert_int_equal(statistics_slow(st, slow), 0);
	push.times.wait_read_us--;
	statistics_add_child(st, &push, SLOW_US);
	assert_int_equal(statistics_slow(st, slow), 1);
	assert_int_equal(slow[0].phases_us[SUMMARY_HOOKS], 2 * SLOW_US);
	assert_int_equal(slow[0].wait_read_us, 2 * SLOW_US);
	assert_int_equal(statistics_print(&text, st, &now, METRICS_OPENMETRICS),
			 0);
	assert_non_null(
		strstr(text.data,
		       "gitreach_phase_seconds_count{phase=\"hooks\"} 2\n"));
	assert_null(
		strstr(text.data,
		       "gitreach_phase_seconds_count{phase=\"receive\"} 2"));
	buf_release(&text);
	statistics_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_slow_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
