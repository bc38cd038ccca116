/* SPDX-License-Identifier: MIT */
/*
 * Tests of islands/sets.c, which numbers sets of delta islands. The sets are
 * compared with arrays of bool.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "islands/islands.h"
#include "t/unit/random.h"

#define ISLANDS 130
#define SETS 400

static bool same(const struct island_sets *sets, uint32_t set, const bool *twin)
{
	for (uint32_t i = 0; i < ISLANDS; i++)
		if (island_sets_has(sets, set, i) != twin[i])
			return false;
	return true;
}

static void random_unions(void **state)
{
	static bool twins[SETS][ISLANDS];
	uint64_t seed = random_seed();
	struct island_sets sets;
	uint32_t numbers[SETS];

	assert_int_equal(island_sets_init(&sets, ISLANDS), 0);
	for (uint32_t k = 0; k < SETS; k++) {
		uint32_t count = 0;

		memset(twins[k], 0, sizeof(twins[k]));
		numbers[k] = ISLAND_SET_EMPTY;
		for (uint64_t n = random_next(&seed) % 4; n; n--) {
			uint32_t one = (uint32_t)(random_next(&seed) % ISLANDS);
			uint32_t set;

			assert_int_equal(island_sets_single(&set, &sets, one),
					 0);
			assert_int_equal(
				island_sets_add(&numbers[k], &sets, set), 0);
			twins[k][one] = true;
		}
		if (k && random_next(&seed) % 2) {
			uint32_t other = (uint32_t)(random_next(&seed) % k);

			assert_int_equal(island_sets_add(&numbers[k], &sets,
							 numbers[other]),
					 0);
			for (uint32_t i = 0; i < ISLANDS; i++)
				twins[k][i] |= twins[other][i];
		}
		for (uint32_t i = 0; i < ISLANDS; i++)
			count += twins[k][i];
		assert_true(same(&sets, numbers[k], twins[k]));
		assert_int_equal(island_sets_count(&sets, numbers[k]), count);
	}
	for (uint32_t a = 0; a < SETS; a++) {
		for (uint32_t b = 0; b < SETS; b++) {
			bool contains = true, equal = true;

			for (uint32_t i = 0; i < ISLANDS; i++) {
				contains &= twins[a][i] || !twins[b][i];
				equal &= twins[a][i] == twins[b][i];
			}
			assert_int_equal(island_sets_contains(&sets, numbers[a],
							      numbers[b]),
					 contains);
			/*
			 * Equal sets of islands must have the same number, and
			 * different sets different numbers.
			 */
			assert_int_equal(numbers[a] == numbers[b], equal);
		}
	}
	island_sets_release(&sets);
}

/*
 * Makes so many sets that the table of sets must grow. Makes so many unions
 * that the cache of unions cannot hold all of them.
 */
static void many(void **state)
{
	enum { NR = 100000 };
	struct island_sets sets;
	uint32_t last = ISLAND_SET_EMPTY;

	assert_int_equal(island_sets_init(&sets, 32), 0);
	for (uint32_t value = 1; value < NR; value++) {
		uint32_t set = ISLAND_SET_EMPTY, single;

		for (uint32_t i = 0; i < 32; i++) {
			if (!(value >> i & 1))
				continue;
			assert_int_equal(island_sets_single(&single, &sets, i),
					 0);
			assert_int_equal(island_sets_add(&set, &sets, single),
					 0);
		}
		assert_int_not_equal(set, last);
		assert_int_equal(island_sets_count(&sets, set),
				 __builtin_popcount(value));
		last = set;
	}
	assert_true(sets.nr >= NR);
	island_sets_release(&sets);
}

static void no_islands(void **state)
{
	struct island_sets sets;
	uint32_t set = ISLAND_SET_EMPTY;

	assert_int_equal(island_sets_init(&sets, 0), 0);
	assert_int_equal(island_sets_add(&set, &sets, ISLAND_SET_EMPTY), 0);
	assert_int_equal(set, ISLAND_SET_EMPTY);
	assert_true(island_sets_contains(&sets, set, set));
	island_sets_release(&sets);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_unions),
		cmocka_unit_test(many),
		cmocka_unit_test(no_islands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
