/* SPDX-License-Identifier: MIT */
/* sys/process.c: the process id, and the environment of children. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <unistd.h>
#include "sys/process.h"

static void test_names(void **state)
{
	assert_int_equal(sys_process_id(), getpid());
}

static void test_environ(void **state)
{
	const char *const set[] = {"GITREACH_A=new", "GITREACH_AB=x"};
	unsigned a = 0, b = 0;
	char **env;

	setenv("GITREACH_A", "old", 1);
	setenv("GITREACH_B", "stays", 1);
	env = sys_environ_with(set, 2);
	assert_non_null(env);
	for (size_t i = 0; env[i]; i++) {
		assert_string_not_equal(env[i], "GITREACH_A=old");
		a += !strcmp(env[i], "GITREACH_A=new");
		b += !strcmp(env[i], "GITREACH_B=stays");
	}
	assert_int_equal(a, 1);
	assert_int_equal(b, 1);
	free(env);
}

static void test_usage(void **state)
{
	struct sys_usage before, after;
	size_t len = 64 << 20;
	char *bytes;

	sys_usage(&before);
	assert_true(before.peak_rss_kib > 100);
	bytes = malloc(len);
	assert_non_null(bytes);
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < len; i += 512)
			bytes[i] = (char)(i + round);
	sys_usage(&after);
	assert_true(bytes[len / 2] != 127);
	assert_true(after.peak_rss_kib >= before.peak_rss_kib + 60 * 1024);
	assert_true(after.user_us + after.system_us >
		    before.user_us + before.system_us);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_environ),
		cmocka_unit_test(test_usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
