/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/oidmap.c, a hash table of object ids. It is compared with an
 * array of the inserted entries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "object/oidmap.h"
#include "base/bytes.h"
#include "random.h"

/* Makes different ids. Every eighth id has the same first eight bytes. */
static struct oid make_oid(uint32_t n)
{
	uint64_t lead = n % 8 ? n * UINT64_C(0x9e3779b97f4a7c15) : 42;
	struct oid oid = OID_ZERO_INIT;

	memcpy(oid.bytes, &lead, sizeof(lead));
	memcpy(oid.bytes + 12, &n, sizeof(n));
	return oid;
}

static void test_empty(void **state)
{
	struct oidmap map = OIDMAP_INIT;
	struct oid oid = make_oid(1);
	uint32_t value = 7;

	assert_false(oidmap_get(&map, &oid, &value));
	assert_int_equal(value, 7);
	oidmap_release(&map);
}

static void test_add_get(void **state)
{
	enum { NR = 5000 };
	struct oidmap map = OIDMAP_INIT;
	uint32_t value;

	for (uint32_t i = 0; i < NR; i++) {
		struct oid oid = make_oid(i);

		assert_int_equal(oidmap_add(&map, &oid, i, NULL), 1);
		assert_int_equal(map.nr, i + 1);
		assert_true(map.nr <= map.slot_nr / 2);
	}
	for (uint32_t i = 0; i < 2 * NR; i++) {
		struct oid oid = make_oid(i);

		value = UINT32_MAX;
		assert_int_equal(oidmap_get(&map, &oid, &value), i < NR);
		assert_int_equal(value, i < NR ? i : UINT32_MAX);
	}
	oidmap_release(&map);
	assert_null(map.slots);
}

static void test_add_keeps_put_replaces(void **state)
{
	struct oidmap map = OIDMAP_INIT;
	struct oid oid = make_oid(3), zero = OID_ZERO_INIT;
	uint32_t value = 0;

	assert_int_equal(oidmap_add(&map, &oid, 10, &value), 1);
	assert_int_equal(value, 0);
	assert_int_equal(oidmap_add(&map, &oid, 11, &value), 0);
	assert_int_equal(value, 10);
	assert_int_equal(oidmap_add(&map, &oid, 11, NULL), 0);
	assert_int_equal(oidmap_put(&map, &oid, 12), 0);
	assert_true(oidmap_get(&map, &oid, &value));
	assert_int_equal(value, 12);
	assert_int_equal(map.nr, 1);
	assert_false(oidmap_get(&map, &zero, &value));
	assert_int_equal(oidmap_put(&map, &zero, 0), 0);
	assert_true(oidmap_get(&map, &zero, &value));
	assert_int_equal(value, 0);
	assert_int_equal(map.nr, 2);
	oidmap_release(&map);
}

/*
 * An attacker can choose ids with equal first bytes. They must collide no more
 * often than random ids.
 */
static void test_chosen(void **state)
{
	enum { NR = 20000 };
	struct oidmap map = OIDMAP_INIT;
	size_t total = 0;

	for (uint32_t i = 0; i < NR; i++) {
		struct oid oid = make_oid(i * 8);

		assert_int_equal(oidmap_add(&map, &oid, i, NULL), 1);
	}
	for (size_t i = 0; i < map.slot_nr; i++) {
		const struct oidmap_entry *e = &map.slots[i];
		size_t mask = map.slot_nr - 1;

		if (e->used)
			total += (i - oidhash_of(&map.hash, &e->oid)) & mask;
	}
	assert_in_range(total, 0, 8 * NR);
	oidmap_release(&map);
}

enum { NR = 4096, PLACES = 2 * NR };

/*
 * Returns the number of pairs of ids that have the same slot. The ids differ in
 * the four bytes from `at` on. Random ids would have about NR / 4 such pairs.
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

/*
 * The ids differ in only four bytes, which are tried at every position. With
 * random keys, such ids must collide about as rarely as random ids.
 */
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

/* A change of any byte of the id, or of the key, changes the hash. */
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
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_add_get),
		cmocka_unit_test(test_add_keeps_put_replaces),
		cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
