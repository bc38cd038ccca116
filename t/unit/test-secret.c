/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/secret.c, which returns random bytes for secrets: they differ
 * from call to call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sys/secret.h"

static void test_secret(void **state)
{
	unsigned char a[256], b[256];

	assert_int_equal(sys_secret(a, sizeof(a), NULL), 0);
	assert_int_equal(sys_secret(b, sizeof(b), NULL), 0);
	assert_memory_not_equal(a, b, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
