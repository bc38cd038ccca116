/* SPDX-License-Identifier: MIT */
/*
 * Tests of wire/summary.c, which writes a summary of each request to the trace:
 * the numbers are right, and without a trace nothing is written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/clock.h"
#include "wire/summary.h"

struct listener {
	struct trace t;
	struct repo repo; /* with this trace */
	int fd;
	char text[8192];
};

static void listen_to(struct listener *l, enum trace_target target)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	trace_init(&l->t, "me", sys_clock_ns());
	l->repo = (struct repo){.git_dir = (char *)"/srv/x.git",
				.trace = &l->t};
	l->t.files[target] = (struct trace_file){fds[1], true};
	l->fd = fds[0];
}

static const char *said(struct listener *l)
{
	ssize_t n = read(l->fd, l->text, sizeof(l->text) - 1);

	l->text[n > 0 ? n : 0] = '\0';
	return l->text;
}

static void stop(struct listener *l)
{
	trace_release(&l->t);
	close(l->fd);
}

/*
 * Returns the number after `"key":` in a text. The test fails if the key is
 * missing.
 */
static uint64_t number(const char *text, const char *key)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	at = strstr(text, quoted);
	assert_non_null(at);
	return strtoull(at + strlen(quoted), NULL, 10);
}

static void test_nobody(void **state)
{
	const struct repo repo = {.git_dir = (char *)"/x.git"};
	struct summary s;

	summary_init(&s, &repo, NULL, "upload-pack");
	assert_null(summary_tap(&s));
	summary_begin(&s, "fetch");
	summary_phase(&s, SUMMARY_PACK);
	summary_u64(&s, SUMMARY_WANTS, 1);
	summary_string(&s, SUMMARY_FILTER, "x");
	assert_null(summary_text(&s, SUMMARY_FILTER));
	summary_end(&s, NULL);
	summary_release(&s);
}

static void test_requests(void **state)
{
	struct error err = ERROR_INIT;
	struct listener l;
	struct summary s;

	listen_to(&l, TRACE_LOG);
	summary_init(&s, &l.repo, NULL, "upload-pack");
	assert_ptr_equal(summary_tap(&s), &s.tap);
	/*
	 * The first bytes of a request may be read before summary_begin() is
	 * called. These bytes count for the request. The time of waiting for
	 * them does not.
	 */
	s.tap.bytes_read = 100;
	s.tap.read_ns = 5000000;
	summary_begin(&s, "fetch");
	summary_phase(&s, SUMMARY_NEGOTIATE);
	summary_u64(&s, SUMMARY_WANTS, 7);
	summary_u64(&s, SUMMARY_SHALLOW, true);
	summary_string(&s, SUMMARY_FILTER, "blob:\"none\"");
	summary_string(&s, SUMMARY_STRATEGY, NULL);
	sys_sleep_ns(2000000);
	s.tap.bytes_read += 11;
	s.tap.bytes_sent += 22;
	s.tap.read_ns += 1000000;
	summary_phase(&s, SUMMARY_PACK);
	summary_phase(&s, SUMMARY_NEGOTIATE);
	summary_end(&s, NULL);
	said(&l);
	assert_non_null(strstr(l.text, "\"key\":\"request\",\"value\":{"
				       "\"service\":\"upload-pack\","
				       "\"command\":\"fetch\","
				       "\"error\":null,"
				       "\"repository\":\"/srv/x.git\","
				       "\"filter\":\"blob:\\\"none\\\"\","
				       "\"strategy\":null,\"negotiate_us\":"));
	assert_non_null(strstr(l.text, ",\"wants\":7,\"shallow\":true,"));
	assert_int_equal(number(l.text, "bytes_received"), 111);
	assert_int_equal(number(l.text, "bytes_sent"), 22);
	assert_int_equal(number(l.text, "wait_read_us"), 1000);
	assert_true(number(l.text, "negotiate_us") >= 2000);
	assert_true(number(l.text, "total_us") >=
		    number(l.text, "negotiate_us") + number(l.text, "pack_us"));
	assert_null(strstr(l.text, "hooks_us"));
	assert_true(number(l.text, "peak_rss_kib") > 0);
	/* The next request starts with all counters of its summary at zero. */
	error_set(&err, ERR_PEER, "gone");
	summary_begin(&s, "ls-refs");
	summary_end(&s, &err);
	said(&l);
	assert_non_null(strstr(l.text, "\"command\":\"ls-refs\","
				       "\"error\":\"gone\","
				       "\"repository\":\"/srv/x.git\","
				       "\"bytes_received\":0,"));
	assert_null(strstr(l.text, "wants"));
	/*
	 * No summary is written if no request has begun, or after
	 * summary_drop().
	 */
	summary_end(&s, NULL);
	summary_begin(&s, "fetch");
	summary_drop(&s);
	summary_end(&s, NULL);
	assert_string_equal(said(&l), "");
	summary_release(&s);
	stop(&l);
}

/*
 * Each phase of a request is a region of the trace. A region must be closed
 * even if the request does not end.
 */
static void test_regions(void **state)
{
	struct listener l;
	struct summary s;

	listen_to(&l, TRACE_EVENT);
	summary_init(&s, &l.repo, NULL, "receive-pack");
	summary_begin(&s, "push");
	summary_phase(&s, SUMMARY_RECEIVE);
	summary_phase(&s, SUMMARY_RECEIVE);
	assert_int_equal(l.t.nesting, 1);
	said(&l);
	assert_non_null(strstr(l.text, "\"category\":\"receive-pack\","
				       "\"label\":\"receive\""));
	summary_phase(&s, SUMMARY_UPDATE);
	assert_int_equal(l.t.nesting, 1);
	summary_release(&s);
	assert_int_equal(l.t.nesting, 0);
	stop(&l);
}

/* Time after summary_suspend() counts as waiting for the client. */
static void test_suspend(void **state)
{
	struct listener l;
	struct summary s, later;
	volatile uint64_t work = 0;
	const char *text;

	listen_to(&l, TRACE_EVENT);
	summary_init(&s, &l.repo, NULL, "upload-pack");
	summary_begin(&s, "fetch");
	summary_phase(&s, SUMMARY_PACK);
	summary_u64(&s, SUMMARY_WANTS, 3);
	s.tap.bytes_sent = 50;
	for (uint64_t i = 0; i < 1000000; i++)
		work += i;
	summary_suspend(&later, &s);
	summary_end(&s, NULL);
	summary_release(&s);
	said(&l);
	assert_null(strstr(l.text, "\"wants\""));
	sys_sleep_ns(20000000);
	later.tap.bytes_sent -= 7;
	summary_end(&later, NULL);
	summary_release(&later);
	text = said(&l);
	assert_int_equal(number(text, "wants"), 3);
	assert_int_equal(number(text, "bytes_sent"), 43);
	/*
	 * The CPU time that was used before summary_suspend() must be counted,
	 * too.
	 */
	assert_true(number(text, "cpu_user_us") + number(text, "cpu_sys_us") >
		    0);
	assert_in_range(number(text, "wait_send_us"), 20000, 10000000);
	assert_true(number(text, "pack_us") >= number(text, "wait_send_us"));
	assert_true(number(text, "total_us") >= number(text, "pack_us"));
	assert_int_equal(l.t.nesting, 0);
	stop(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_suspend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
