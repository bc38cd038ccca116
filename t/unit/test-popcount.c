/* SPDX-License-Identifier: MIT */
/*
 * Tests of ewah/popcount.c, which counts set bits. The results are compared
 * with counting bit by bit.
 */
#include "t/unit/twin.h"

#include "base/bytes.h"
#include "ewah/popcount.h"

#define WORDS 67

static size_t slow_count(const uint64_t *a, const uint64_t *b, size_t nr)
{
	size_t i, j, count = 0;

	for (i = 0; i < nr; i++)
		for (j = 0; j < 64; j++)
			count += (a[i] & b[i]) >> j & 1;
	return count;
}

static void test_corners(void **state)
{
	static const uint64_t ones[2] = {UINT64_MAX, UINT64_MAX};

	assert_int_equal(ewah_popcount(NULL, 0), 0);
	assert_int_equal(ewah_popcount(ones, 2), 128);
	assert_int_equal(ewah_popcount_and(ones, ones, 1), 64);
	assert_int_equal(ewah_popcount_word(0), 0);
	assert_int_equal(ewah_popcount_word(UINT64_MAX), 64);
}

/*
 * Counts the bits of arrays of every length: arrays of words, and arrays of
 * bytes that begin at an odd address, in big-endian and little-endian order.
 */
static void test_arrays(void **state)
{
	struct rng r = rng_new();
	uint64_t a[WORDS], b[WORDS];
	uint8_t big[8 * WORDS + 1], little[8 * WORDS + 1];
	size_t i, nr, both;

	for (i = 0; i < WORDS; i++) {
		a[i] = rng_next(&r);
		b[i] = rng_next(&r) | rng_next(&r);
		store_be64(big + 1 + 8 * i, a[i]);
	}
	memcpy(little + 1, a, sizeof(a));
	for (nr = 0; nr <= WORDS; nr++) {
		both = slow_count(a, b, nr);
		assert_int_equal(ewah_popcount(a, nr), slow_count(a, a, nr));
		assert_int_equal(ewah_popcount_bytes(big + 1, nr),
				 slow_count(a, a, nr));
		assert_int_equal(ewah_popcount_and(a, b, nr), both);
		assert_int_equal(ewah_popcount_bytes_and(big + 1, true, b, nr),
				 both);
		assert_int_equal(
			ewah_popcount_bytes_and(little + 1, false, b, nr),
			both);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corners),
		cmocka_unit_test(test_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
