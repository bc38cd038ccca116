/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/splitmix.h, a generator of random numbers: it returns the
 * published numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/splitmix.h"

static void known_numbers(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(6457827717110365317),  UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423),  UINT64_C(4593380528125082431),
		UINT64_C(16408922859458223821),
	};
	uint64_t s = 1234567;

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		assert_true(splitmix_next(&s) == expected[i]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
