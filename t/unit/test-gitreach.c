/* SPDX-License-Identifier: MIT */
/* The public interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "include/gitreach.h"

static void version_is_the_header_s(void **state)
{
	assert_string_equal(gitreach_version(), GITREACH_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_is_the_header_s),
	};

	return cmocka_run_group_tests_name("gitreach", tests, NULL, NULL);
}
