/* SPDX-License-Identifier: MIT */
/* Clocks run forward. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <time.h>

#include "sys/clock.h"

static void monotonic_time_advances(void **state)
{
	uint64_t first = sys_clock_ns(), now = first;

	while (now == first)
		now = sys_clock_ns();
	assert_true(now > first);
}

static void seconds_are_the_time_of_day(void **state)
{
	int64_t before = time(NULL), now = sys_clock_seconds();

	assert_true(now >= before);
	assert_true(now - before < 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(monotonic_time_advances),
		cmocka_unit_test(seconds_are_the_time_of_day),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
