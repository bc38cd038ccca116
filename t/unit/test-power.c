/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/power.c, which computes powers: known values, and laws of
 * powers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/mem.h"
#include "bitmap/pseudo-select.h"
#include "t/unit/random.h"

static void assert_near(double is, double expected)
{
	double off = is / expected - 1;

	if (!(off < 1e-11 && off > -1e-11))
		fail_msg("%.15g, not %.15g", is, expected);
}

static void known(void **state)
{
	static const struct {
		uint32_t base;
		double exponent, result;
	} table[] = {
		{1, 0, 1},
		{7, 0, 1},
		{2, 10, 1024},
		{3, 1, 3},
		{1, 1e300, 1},
		{4, .5, 2},
		{2, .5, 1.4142135623730951},
		{10, -0.0, 1},
		{10, 1.5, 31.622776601683793},
		{10, .1, 1.2589254117941673},
		{3, 2.7182818284590452, 19.812990745274643},
		{UINT32_MAX, .001, 1.0224285306096843},
		{5, 1e-300, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_NR(table); i++)
		assert_near(power(table[i].base, table[i].exponent),
			    table[i].result);
}

static void out_of_range(void **state)
{
	(void)state;
	assert_true(power(2, 1023) < power(2, 1024));
	assert_true(power(2, 1e300) == power(2, 1024));
	assert_true(1 / power(UINT32_MAX, 1e300) == 0);
}

/*
 * Checks the laws a^x a^y = a^(x+y) and a^x b^x = (ab)^x. Powers must also grow
 * with the base.
 */
static void laws(void **state)
{
	uint64_t seed = random_seed();

	(void)state;
	for (int i = 0; i < 2000; i++) {
		uint32_t a = 1 + (uint32_t)(random_next(&seed) % 60000);
		uint32_t b = 1 + (uint32_t)(random_next(&seed) % 60000);
		double x = (double)(random_next(&seed) % 1000000) / 1e5;
		double y = (double)(random_next(&seed) % 1000000) / 1e5;

		assert_near(power(a, x) * power(a, y), power(a, x + y));
		assert_near(power(a, x) * power(b, x), power(a * b, x));
		assert_true(power(a + 1, x + 1e-5) > power(a, x + 1e-5));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known),
		cmocka_unit_test(out_of_range),
		cmocka_unit_test(laws),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
