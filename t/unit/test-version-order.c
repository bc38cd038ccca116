/* SPDX-License-Identifier: MIT */
/* base/version-order.c: the rules of versionsort.suffix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/version-order.h"
#include "t/unit/random.h"

/* Asserts that each name sorts before all names that follow it. */
static void assert_order(const char *const *names, size_t nr,
			 const char *const *suffixes, size_t suffix_nr)
{
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < nr; k++) {
			int cmp = version_order(names[i], names[k], suffixes,
						suffix_nr);

			if (cmp ? (cmp < 0) != (i < k) : i != k)
				fail_msg("%s, %s: %d", names[i], names[k], cmp);
		}
	}
}

static void numbers(void **state)
{
	static const char *const names[] = {"v1",     "v1.2",    "v1.2-rc1",
					    "v1.2.1", "v1.10",   "v2",
					    "v10",    "v10.003", "v10.01"};

	(void)state;
	assert_order(names, ARRAY_NR(names), NULL, 0);
}

/* The example of git-config(1). */
static void suffixes(void **state)
{
	static const char *const list[] = {"-rc", "", "-ck", "-bfs"};
	static const char *const names[] = {
		"v4.7",     "v4.8-rc1",  "v4.8-rc2",  "v4.8-rc10",
		"v4.8",     "v4.8-ck1",  "v4.8-bfs1", "v4.8-bfs2",
		"v4.9-rc1", "v4.9-bfs1", "v4.10-rc1", "v4.10"};

	(void)state;
	assert_order(names, ARRAY_NR(names), list, ARRAY_NR(list));
}

static void which_suffix(void **state)
{
	static const char *const list[] = {"-r", "-rc", "x-r"};
	static const char *const names[] = {"1.0-r1", "1.0-rc1", "1.0"};
	static const char *const first[] = {"1.0-r", "1.0x-r", "1.0"};

	(void)state;
	assert_order(names, ARRAY_NR(names), list, ARRAY_NR(list));
	assert_order(first, ARRAY_NR(first), list, ARRAY_NR(list));
}

/*
 * Compares random names. A sanitizer build reports any read past the end of a
 * name.
 */
static void any_names(void **state)
{
	static const char letters[] = "a1-0.";
	static const char *const list[] = {"-a", "", "a-", "-", "1-a"};
	uint64_t seed = random_seed();

	(void)state;
	for (int i = 0; i < 20000; i++) {
		size_t len[2] = {random_next(&seed) % 9,
				 random_next(&seed) % 9};
		char *name[2];
		int ab, ba;

		for (int k = 0; k < 2; k++) {
			name[k] = mem_calloc(len[k] + 1, 1);
			assert_non_null(name[k]);
			for (size_t j = 0; j < len[k]; j++)
				name[k][j] = letters[random_next(&seed) %
						     (sizeof(letters) - 1)];
		}
		ab = version_order(name[0], name[1], list, ARRAY_NR(list));
		ba = version_order(name[1], name[0], list, ARRAY_NR(list));
		assert_int_equal(ab<0, ba> 0);
		assert_int_equal(!ab, !strcmp(name[0], name[1]));
		free(name[0]);
		free(name[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(suffixes),
		cmocka_unit_test(which_suffix),
		cmocka_unit_test(any_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
