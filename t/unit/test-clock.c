/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/clock.c, the clocks and the alarm of the process. They prove
 * that the monotonic clock does not run backwards, and that the alarm ends the
 * process unless it is cancelled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void alarm_ends_the_process(void **state)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		sys_alarm_set(UINT64_C(20000001));
		pause();
		_exit(0);
	}
	status = wait_for(pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGALRM);
}

static void alarm_can_be_cancelled(void **state)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		sys_alarm_set(UINT64_C(60000000001));
		sys_alarm_set(0);
		_exit(alarm(0) == 0 ? 7 : 8);
	}
	status = wait_for(pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(monotonic_time_advances),
		cmocka_unit_test(seconds_are_the_time_of_day),
		cmocka_unit_test(alarm_ends_the_process),
		cmocka_unit_test(alarm_can_be_cancelled),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
