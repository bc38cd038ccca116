/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/event.c (epoll, event and signal descriptors). They prove that a
 * descriptor is reported once, that an alarm wakes a thread, and that signals
 * can be read from a descriptor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/event.h"
#include "sys/io.h"

static void test_once(void **state)
{
	int set = sys_event_open(NULL), fds[2], ctx;
	void *ready[4];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(sys_event_add_once(set, fds[0], &ctx, NULL), 0);
	assert_int_equal(sys_event_wait(set, ready, 4, 0), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(sys_event_wait(set, ready, 4, 1000), 1);
	assert_ptr_equal(ready[0], &ctx);
	assert_int_equal(sys_event_wait(set, ready, 4, 0), 0);
	assert_int_equal(sys_event_again(set, fds[0], &ctx, NULL), 0);
	assert_int_equal(sys_event_wait(set, ready, 4, 1000), 1);
	sys_event_remove(set, fds[0]);
	/* sys_event_again() also adds a descriptor that is not in the set. */
	assert_int_equal(sys_event_again(set, fds[0], &ctx, NULL), 0);
	assert_int_equal(sys_event_wait(set, ready, 4, 1000), 1);
	assert_int_equal(sys_event_again_out(set, fds[1], &set, NULL), 0);
	assert_int_equal(sys_event_wait(set, ready, 4, 1000), 1);
	assert_ptr_equal(ready[0], &set);
	assert_int_equal(sys_event_wait(set, ready, 4, 0), 0);
	sys_event_remove(set, fds[0]);
	sys_close(fds[0]);
	assert_int_equal(sys_event_again(set, fds[0], &ctx, NULL), ERR_IO);
	sys_close(fds[1]);
	sys_close(set);
}

static void test_is_ready(void **state)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_false(sys_event_is_ready(fds[0]));
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_true(sys_event_is_ready(fds[0]));
	sys_close(fds[1]);
	assert_true(sys_event_is_ready(fds[0]));
	sys_close(fds[0]);
}

static void test_alarm(void **state)
{
	int set = sys_event_open(NULL), alarm = sys_event_alarm_open(NULL);
	void *ready[4];

	assert_int_equal(sys_event_add(set, alarm, &alarm, false, NULL), 0);
	sys_event_wake(alarm);
	sys_event_wake(alarm);
	assert_int_equal(sys_event_wait(set, ready, 4, 1000), 1);
	assert_ptr_equal(ready[0], &alarm);
	sys_event_unwake(alarm);
	assert_int_equal(sys_event_wait(set, ready, 4, 0), 0);
	sys_close(alarm);
	sys_close(set);
}

static void test_signals(void **state)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	fd = sys_event_signals_open(&set, NULL);
	assert_true(fd >= 0);
	assert_int_equal(sys_event_signal(fd), 0);
	kill(getpid(), SIGUSR1);
	assert_int_equal(sys_event_signal(fd), SIGUSR1);
	assert_int_equal(sys_event_signal(fd), 0);
	sys_close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_is_ready),
		cmocka_unit_test(test_alarm),
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
