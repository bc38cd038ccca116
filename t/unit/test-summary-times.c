/* SPDX-License-Identifier: MIT */
/*
 * Tests of wire/summary-times.c, which tells the times of a request to another
 * process: what is written can be parsed, and unknown words do no harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/summary-times.h"

static void test_both_ways(void **state)
{
	const struct repo repo = {.git_dir = (char *)"/a.git"};
	struct summary_times times, parsed;
	struct buf line = BUF_INIT;
	struct summary s;

	summary_init(&s, &repo, NULL, "receive-pack");
	s.entered[SUMMARY_RECEIVE] = s.entered[SUMMARY_UPDATE] = true;
	s.phases_ns[SUMMARY_RECEIVE] = 12999;
	s.phases_ns[SUMMARY_HOOKS] = 5000; /* not entered */
	s.numbers[SUMMARY_WAIT_READ_US] = UINT64_MAX;
	s.numbers[SUMMARY_WAIT_SEND_US] = 7;
	summary_times_take(&times, &s);
	assert_int_equal(times.phases_us[SUMMARY_RECEIVE], 12);
	assert_int_equal(times.phases_us[SUMMARY_HOOKS], 0);
	assert_int_equal(summary_times_format(&line, &times), 0);
	assert_string_equal(line.data,
			    "receive=12 update-refs=0 "
			    "wait_read=18446744073709551615 wait_send=7");
	summary_times_parse(&parsed, line.data);
	assert_memory_equal(&parsed, &times, sizeof(times));
	summary_release(&s);
	buf_release(&line);
}

/* The longest line has all phases and the largest numbers. */
static void test_longest(void **state)
{
	struct summary_times times, parsed;
	struct buf line = BUF_INIT;

	memset(&times, 0xff, sizeof(times));
	memset(times.entered, true, sizeof(times.entered));
	assert_int_equal(summary_times_format(&line, &times), 0);
	assert_true(line.len <= SUMMARY_TIMES_MAX);
	summary_times_parse(&parsed, line.data);
	for (int i = 0; i < SUMMARY_PHASE_NR; i++)
		assert_int_equal(parsed.phases_us[i], UINT64_MAX);
	buf_release(&line);
}

static void test_strange_words(void **state)
{
	static const char *const lines[] = {"hooks",    "hooks=",   "hooks=-5",
					    "hooks=x",  "hooks=5x", "hook=5",
					    "hookss=5", "=5",       " = ",
					    "=",        "hooks =5", ""};
	struct summary_times times;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		summary_times_parse(&times, lines[i]);
		assert_false(times.entered[SUMMARY_HOOKS]);
		assert_int_equal(times.phases_us[SUMMARY_HOOKS], 0);
	}
	summary_times_parse(&times, " new=1  hooks=x hooks=6 more");
	assert_int_equal(times.phases_us[SUMMARY_HOOKS], 6);
	assert_int_equal(times.wait_read_us, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_strange_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
