/* SPDX-License-Identifier: MIT */
/* object/oidhash.c: ids that differ in only a few bits, under many keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "object/oidhash.h"
#include "random.h"

enum { NR = 4096, PLACES = 2 * NR };

/*
 * Counts the pairs of ids that share a slot. About NR / 4 pairs are expected by
 * chance.
 */
static size_t count_collisions(const struct oidhash *hash, size_t at)
{
	uint32_t *nr = calloc(PLACES, sizeof(*nr));
	size_t pairs = 0;

	for (uint32_t i = 0; i < NR; i++) {
		struct oid oid = OID_ZERO_INIT;

		store_be32(oid.bytes + at, i);
		pairs += nr[oidhash_of(hash, &oid) % PLACES]++;
	}
	free(nr);
	return pairs;
}

/* The differing bytes are at every position, with random keys. */
static void test_spread(void **state)
{
	uint64_t seed = random_seed();
	struct oidhash hash;
	size_t total = 0, rounds = 0;

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 4; i++)
			hash.key[i] = random_next(&seed);
		for (size_t at = 0; at + 4 <= OID_MAX_LEN; at++, rounds++) {
			size_t pairs = count_collisions(&hash, at);

			assert_in_range(pairs, 0, 16 * NR);
			total += pairs;
		}
	}
	assert_in_range(total, 0, rounds * NR);
}

/* The hash depends on every byte of the id and on the key. */
static void test_key(void **state)
{
	struct oidhash a, b;
	struct oid oid = OID_ZERO_INIT;
	size_t of_zero;

	oidhash_init(&a);
	oidhash_init(&b);
	of_zero = oidhash_of(&a, &oid);
	assert_int_equal(oidhash_of(&b, &oid), of_zero);
	for (size_t i = 0; i < OID_MAX_LEN; i++) {
		oid.bytes[i] = 1;
		assert_int_not_equal(oidhash_of(&a, &oid), of_zero);
		oid.bytes[i] = 0;
	}
	for (int i = 0; i < 4; i++) {
		assert_int_not_equal(a.key[i], 0);
		b.key[i]++;
		assert_int_not_equal(oidhash_of(&b, &oid), of_zero);
		b.key[i]--;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
