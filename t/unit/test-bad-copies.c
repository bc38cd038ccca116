/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/bad-copies.c, the set of damaged object copies. They prove that
 * the set contains all copies that were added, and no other copies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "odb/bad-copies.h"

/*
 * The set only compares the addresses of packs and never reads packs, so no
 * real packs are needed.
 */
static const char pack_a, pack_b;
#define PACK_A ((const struct pack *)&pack_a)
#define PACK_B ((const struct pack *)&pack_b)

enum { MANY = 1000 };

static void test_add_and_find(void **state)
{
	struct bad_copies set = {0};

	assert_null(bad_copies_find(&set, PACK_A, 12));
	for (uint64_t i = 0; i < MANY; i++) {
		struct bad_copy *copy = bad_copies_add(&set, PACK_A, 12 * i);

		assert_non_null(copy);
		assert_false(copy->is_alone);
		copy->is_alone = i % 2;
	}
	assert_int_equal(set.nr, MANY);
	for (uint64_t i = 0; i < MANY; i++) {
		const struct bad_copy *copy = bad_copies_find(&set, PACK_A,
							      12 * i);

		assert_non_null(copy);
		assert_int_equal(copy->is_alone, i % 2);
		assert_null(bad_copies_find(&set, PACK_A, 12 * i + 1));
		assert_null(bad_copies_find(&set, PACK_B, 12 * i));
	}
	bad_copies_reset(&set);
	assert_null(bad_copies_find(&set, PACK_A, 12));
}

static void test_added_twice(void **state)
{
	struct bad_copies set = {0};

	bad_copies_add(&set, PACK_A, 12)->is_alone = true;
	assert_true(bad_copies_add(&set, PACK_A, 12)->is_alone);
	assert_int_equal(set.nr, 1);
	assert_false(bad_copies_add(&set, PACK_B, 12)->is_alone);
	assert_int_equal(set.nr, 2);
	bad_copies_reset(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_and_find),
		cmocka_unit_test(test_added_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
