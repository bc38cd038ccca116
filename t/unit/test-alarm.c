/* SPDX-License-Identifier: MIT */
/* The alarm rings when it was set, unless it was set again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/alarm.h"

static int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void test_rings(void **state)
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

static void test_is_called_off(void **state)
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
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_is_called_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
