/* SPDX-License-Identifier: MIT */
/*
 * Tests of status/status.c and status/status-page.c, the status of the server
 * as JSON and HTML: both are well-formed, with text from clients escaped and
 * long lists truncated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "status/status.h"
#include "sys/clock.h"

/* Add a slow fetch of the repository `path` to the statistics. */
static void add_fetch(struct statistics *st, const char *path)
{
	const struct repo repo = {.git_dir = (char *)path};
	const struct summary_about about = {.client = "192.0.2.1",
					    .user = "<b>&ann"};
	struct summary s;

	summary_init(&s, &repo, &about, "upload-pack");
	s.is_on = true;
	s.command = "fetch";
	s.entered[SUMMARY_PACK] = true;
	s.phases_ns[SUMMARY_PACK] = UINT64_C(2000000000);
	summary_u64(&s, SUMMARY_TOTAL_US, 2000000);
	summary_u64(&s, SUMMARY_CPU_USER_US, 1000000);
	summary_u64(&s, SUMMARY_WAIT_SEND_US, 500000);
	summary_string(&s, SUMMARY_PLAN, "joined");
	summary_string(&s, SUMMARY_NO_BITMAP_REASON, "<b>reason");
	statistics_add(st, &s, NULL, 1000000);
	s.command = NULL;
	summary_release(&s);
}

/*
 * Record packs of a repository. The newest is 90 seconds old, the oldest 3
 * days.
 */
static void note_packs(struct statistics *st, const char *path)
{
	uint64_t now = (uint64_t)sys_clock_seconds();
	const struct status_packs packs = {
		.nr = 7,
		.newest = now - 90,
		.oldest = now - 3 * 86400 - 60,
	};

	statistics_note_packs(st, path, &packs);
}

/* In the page, text from clients is escaped. The JSON is well-formed. */
static void test_pages(void **state)
{
	const struct status_request request = {"/<i>.git", 8, "192.0.2.9",
					       "<u>bob"};
	struct statistics *st = statistics_new(NULL);
	struct status_boards *boards = status_boards_new(NULL);
	struct status_board *board = status_board_take(boards, 2);
	static struct status s;
	struct buf html = BUF_INIT, json = BUF_INIT;

	status_board_set_ready(board);
	status_board_set(board, STATUS_GAUGE_CONNECTIONS, 3);
	status_board_set(board, STATUS_GAUGE_SENDING, 5);
	status_slot_enter(status_board_slot(board, 0), &request, false);
	status_send_begin(board, &request, 1);
	add_fetch(st, "/srv/<script>\"\n.git");
	note_packs(st, "/srv/<script>\"\n.git");
	s.agent = "git/1";
	status_take(&s, boards, st);
	s.now.admission = (struct admission_view){
		.token_nr = 4,
		.waiting = 7,
		.lines = {{.name = "<u>\"x", .waiting = 7}},
		.line_nr = 1,
	};
	assert_int_equal(s.now.connections, 3);
	assert_int_equal(s.now.requests, 1);
	assert_int_equal(s.now.sending, 5);
	assert_int_equal(s.now.workers, 1);
	/*
	 * If the server does not use a store, the page and the JSON do not
	 * mention a store.
	 */
	assert_int_equal(status_print_html(&html, &s), 0);
	assert_int_equal(status_print_json(&json, &s), 0);
	assert_null(strstr(html.data, "Store and cache"));
	assert_null(strstr(json.data, "\"store\""));
	buf_reset(&html);
	buf_reset(&json);
	s.store = (struct status_store){
		.is_used = true,
		.requests = 12345,
		.failures = 67,
		.received = 5000000,
		.answered = (uint64_t)s.taken - 300,
		.lookups = {{"hit", 9}, {"stale", 3}},
		.lookup_nr = 2,
		.bytes = 900,
	};
	assert_int_equal(status_store_age(&s), 300);
	assert_int_equal(status_print_html(&html, &s), 0);
	assert_null(strstr(html.data, "<script"));
	assert_null(strstr(html.data, "<i>.git"));
	assert_null(strstr(html.data, "<b>&ann"));
	assert_non_null(strstr(html.data, "/srv/&lt;script&gt;&quot;?.git"));
	assert_non_null(strstr(html.data, "/&lt;i&gt;.git"));
	assert_non_null(strstr(html.data, "2.00 s"));
	assert_non_null(strstr(html.data, ">7<br><small>9"));
	assert_non_null(strstr(html.data, "Store and cache"));
	assert_non_null(strstr(html.data, " s to 3 days old"));
	assert_non_null(strstr(html.data, "joined"));
	assert_non_null(strstr(html.data, "<i class=\"p9\" "
					  "style=\"width:25.0%\">"));
	assert_non_null(strstr(html.data, "<td>&lt;u&gt;&quot;x</td>"));
	assert_int_equal(status_print_json(&json, &s), 0);
	assert_non_null(strstr(json.data,
			       "\"in_flight\":[{\"path\":\"/<i>.git\","
			       "\"client\":\"192.0.2.9\","
			       "\"user\":\"<u>bob\",\"phase\":\"send\","));
	assert_non_null(strstr(json.data, "\"phase\":\"work\","));
	assert_non_null(strstr(json.data, "\"responses_sending\":5,"));
	assert_non_null(strstr(html.data, "<b>5</b>answers being sent"));
	assert_non_null(strstr(html.data, "192.0.2.9<br>&lt;u&gt;bob</td>"
					  "<td class=\"t\">send</td>"));
	assert_non_null(strstr(json.data,
			       "\"queued\":7,\"principals\":[{\"name\":"
			       "\"<u>\\\"x\",\"waiting\":7,"));
	assert_non_null(strstr(json.data, "\"phases_us\":{\"pack\":2000000}"));
	assert_non_null(strstr(json.data, "\"packs\":7,\"newest_pack\":"));
	assert_non_null(strstr(json.data, "\"bitmap_unused\":{\"other\":1}"));
	assert_non_null(strstr(json.data, "\"plan_lookups\":{\"joined\":1}"));
	assert_non_null(
		strstr(json.data,
		       "\"store\":{\"requests\":12345,\"failures\":67,"
		       "\"received_bytes\""
		       ":5000000,\"sent_bytes\":0,\"answer_age_seconds\":300,"
		       "\"lookups\":{\"hit\":9,\"stale\":3},\"downloads\":0,"
		       "\"evictions\":0,\"cache_bytes\":900,\"cache_limit_"
		       "bytes\":0}"));
	assert_non_null(strstr(html.data, "data-l=\"Last answer\">5 min ago<"));
	assert_non_null(strstr(html.data, "data-l=\"Limit\">none<"));
	assert_non_null(strstr(html.data, "<td>stale<"));
	buf_release(&html);
	buf_release(&json);
	status_boards_free(boards);
	statistics_free(st);
}

/*
 * The oldest requests are shown. However many answers are being sent, the
 * requests that threads answer stay in the list.
 */
static void test_many_flights(void **state)
{
	const struct status_request request = {"/a.git", 6, "", ""};
	struct statistics *st = statistics_new(NULL);
	struct status_boards *boards = status_boards_new(NULL);
	struct status_board *board = status_board_take(boards, 1);
	static struct status s;

	for (uint64_t i = 0; i < STATUS_SENDS_MAX; i++)
		status_send_begin(board, &request, STATUS_SENDS_MAX - i);
	status_slot_enter(status_board_slot(board, 0), &request, false);
	status_take(&s, boards, st);
	assert_int_equal(s.flight_nr, STATUS_FLIGHTS_MAX + 1);
	assert_int_equal(s.flights[0].begin_ns, 1);
	assert_int_equal(s.flights[STATUS_FLIGHTS_MAX - 1].begin_ns,
			 STATUS_FLIGHTS_MAX);
	assert_string_equal(status_flight_phase(&s.flights[STATUS_FLIGHTS_MAX]),
			    "work");
	status_boards_free(boards);
	statistics_free(st);
}

/*
 * Long lists are truncated. The page must not mention the repositories that are
 * left out.
 */
static void test_long_lists(void **state)
{
	struct statistics *st = statistics_new(NULL);
	struct status_boards *boards = status_boards_new(NULL);
	static struct status s;
	struct buf html = BUF_INIT;
	size_t rows = 0;

	for (int i = 0; i < 300; i++) {
		char path[400];

		snprintf(path, sizeof(path), "/%0300d.git", i);
		add_fetch(st, path);
	}
	s.agent = "git/1";
	status_take(&s, boards, st);
	assert_int_equal(s.cost_nr, STATUS_COSTS_SHOWN_MAX);
	assert_int_equal(s.slow_nr, STATUS_SLOW_MAX);
	assert_int_equal(status_print_html(&html, &s), 0);
	for (const char *p = html.data; (p = strstr(p, "<tr><td")); p++)
		rows++;
	/*
	 * The two long tables of the page are truncated. The table of reasons
	 * and the table of plans have one row each.
	 */
	assert_int_equal(rows, STATUS_COSTS_SHOWN_MAX + STATUS_SLOW_MAX + 2);
	/* The page shows only the last 80 bytes of a long path. */
	assert_null(strstr(html.data, "0000000000000000000000000000000000000000"
				      "0000000000000000000000000000000000000000"
				      "0"));
	buf_release(&html);
	status_boards_free(boards);
	statistics_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_many_flights),
		cmocka_unit_test(test_long_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
