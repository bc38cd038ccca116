/* SPDX-License-Identifier: MIT */
/* sys/process.c: who we are; the environment of children. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_environ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
