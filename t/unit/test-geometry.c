/* SPDX-License-Identifier: MIT */
/* repack/geometry.c: the fewest packs that will do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "repack/geometry.h"
#include "t/unit/random.h"

/* Whether it is a progression once the first `split` have become one. */
static bool will_do(const uint32_t *counts, size_t nr, uint64_t factor,
		    size_t split)
{
	uint64_t last = 0;

	for (size_t i = 0; i < split; i++)
		last += counts[i];
	for (size_t i = split; i < nr; i++) {
		if (i && counts[i] < factor * last)
			return false;
		last = counts[i];
	}
	return true;
}

static size_t slow_split(const uint32_t *counts, size_t nr, uint64_t factor)
{
	size_t split = 0;

	while (!will_do(counts, nr, factor, split))
		split++;
	return split;
}

static int cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void fewest(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 20000; round++) {
		size_t nr = random_next(&seed) % 9;
		uint64_t factor = 1 + random_next(&seed) % 4;
		uint32_t counts[9];

		for (size_t i = 0; i < nr; i++)
			counts[i] = (uint32_t)(random_next(&seed) %
					       (1u << random_next(&seed) % 12));
		qsort(counts, nr, sizeof(*counts), cmp);
		assert_int_equal(geometry_split(counts, nr, factor),
				 slow_split(counts, nr, factor));
	}
}

/* The drawing of geometry.h; and nothing overflows. */
static void examples(void **state)
{
	static const uint32_t drawn[] = {3, 5, 8, 40, 100, 260};
	static const uint32_t huge[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

	assert_int_equal(geometry_split(drawn, 6, 2), 3);
	assert_int_equal(geometry_split(drawn, 0, 2), 0);
	assert_int_equal(geometry_split(drawn, 1, 2), 0);
	assert_int_equal(geometry_split(huge, 3, 2), 3);
	assert_int_equal(geometry_split(huge, 3, UINT64_MAX), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fewest),
		cmocka_unit_test(examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
