/* SPDX-License-Identifier: MIT */
/*
 * Tests of admission/pressure.c, which adjusts the number of tokens for
 * expensive work: a low load of the machine adds tokens, and a high load halves
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "admission/pressure.h"

static int parse(const char *text)
{
	return admission_pressure_parse(text, strlen(text));
}

static void test_parse(void **state)
{
	static const char *const bad[] = {
		"",
		"some avg10",
		"some avg10=",
		"some avg10=1",
		"some avg10=1.",
		"some avg10=1.2",
		"some avg10=1.2 avg60=0.00",
		"some avg10=x.00",
		"some avg10=-1.00",
		"some avg10=1.2.3",
		"some avg10=100.01",
		"some avg10=99999999999999999999.00",
		"full avg10=1.00",
	};

	assert_int_equal(parse("some avg10=0.00 avg60=0.00 avg300=0.00 "
			       "total=0\nfull avg10=9.00"),
			 0);
	assert_int_equal(parse("some avg10=12.34 avg60"), 1234);
	assert_int_equal(parse("some avg10=100.00"), 10000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i]), -1);
}

static void test_adjust(void **state)
{
	int full = ADMISSION_PRESSURE_CPU + 1;

	/*
	 * If the load is low, the number of tokens grows by one, up to the
	 * limit.
	 */
	assert_int_equal(admission_pressure_adjust(1, 8, 0, 0), 2);
	assert_int_equal(admission_pressure_adjust(8, 8, 0, 0), 8);
	assert_int_equal(admission_pressure_adjust(9, 4, 0, 0), 4);
	/*
	 * If the load is high, the number of tokens is halved, but never below
	 * 1.
	 */
	assert_int_equal(admission_pressure_adjust(8, 8, full, 0), 4);
	assert_int_equal(admission_pressure_adjust(
				 7, 8, 0, ADMISSION_PRESSURE_MEMORY + 1),
			 3);
	assert_int_equal(admission_pressure_adjust(1, 8, full, full), 1);
	/* An unknown load (-1) counts as low. */
	assert_int_equal(admission_pressure_adjust(3, 8, -1, -1), 4);
	assert_int_equal(admission_pressure_adjust(3, 8, ADMISSION_PRESSURE_CPU,
						   ADMISSION_PRESSURE_MEMORY),
			 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_adjust),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
