/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/commit-map.c, a map from commits (by obj_pos) to values. They
 * prove that the map returns the same values as an array, with few and with
 * many commits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "t/unit/random.h"
#include "walk/commit-map.h"

#define PACKED_NR 50000
#define END (PACKED_NR + 3000)

static void check(const struct commit_map *map, const uint32_t *want)
{
	for (uint32_t i = 0; i < END; i++)
		assert_int_equal(commit_map_get(map, i), want[i]);
}

/*
 * Adds commits until the map has so many that it switches from a hash table to
 * an array. The map must always agree with a plain array.
 */
static void same_as_an_array(void **state)
{
	uint64_t seed = random_seed();
	uint32_t *want = calloc(END, sizeof(*want)), nr = 0;
	struct commit_map map;

	assert_non_null(want);
	assert_int_equal(commit_map_init(&map, PACKED_NR), 0);
	check(&map, want);
	while (nr < 2 * COMMIT_MAP_FEW) {
		uint32_t pos = (uint32_t)(random_next(&seed) % END);
		uint32_t *slot = commit_map_slot(&map, pos);

		assert_non_null(slot);
		assert_int_equal(*slot, want[pos]);
		if (!*slot)
			*slot = want[pos] = ++nr;
		assert_int_equal(map.few != NULL, nr <= COMMIT_MAP_FEW);
		if (nr % 1000 == 0 || nr == 1)
			check(&map, want);
	}
	check(&map, want);
	assert_int_equal(commit_map_get(&map, UINT32_MAX), 0);
	commit_map_release(&map);
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
