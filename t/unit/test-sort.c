/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/sort.c: the results are those of qsort(), with keys of all
 * widths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "t/unit/random.h"
#include "base/mem.h"

/*
 * Compares two items by key, then by value. Values ascend in the input, so this
 * order is that of a stable sort.
 */
static int slow_compare(const void *va, const void *vb)
{
	const struct sort_item *a = va, *b = vb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

static void check(size_t nr, uint64_t mask, uint64_t *random)
{
	struct sort_item *a = calloc(nr + 1, sizeof(*a));
	struct sort_item *b = calloc(nr + 1, sizeof(*b));

	assert_non_null(a);
	assert_non_null(b);
	for (size_t i = 0; i < nr; i++) {
		a[i].key = random_next(random) & mask;
		a[i].value = (uint32_t)i;
	}
	memcpy(b, a, nr * sizeof(*a));
	qsort(b, nr, sizeof(*b), slow_compare);
	assert_int_equal(sort_items(a, nr), 0);
	for (size_t i = 0; i < nr; i++) {
		assert_true(a[i].key == b[i].key);
		assert_int_equal(a[i].value, b[i].value);
	}
	free(a);
	free(b);
}

static void agrees_with_qsort(void **state)
{
	static const uint64_t masks[] = {
		0,
		7,
		UINT64_C(0xffff),
		UINT64_C(0xffff0000),
		UINT64_C(0xff00ff00ff),
		UINT64_MAX,
	};
	static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, 70000};
	uint64_t random = random_seed();

	for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			check(sizes[s], masks[m], &random);
}

/*
 * sort_find() returns the first of three items with the same key, or NULL for a
 * key in a gap between the keys.
 */
static void finds_the_first(void **state)
{
	struct sort_item items[90];

	for (uint32_t i = 0; i < 90; i++)
		items[i] = (struct sort_item){10 + 2 * (uint64_t)(i / 3), i};
	for (uint64_t key = 0; key < 80; key++) {
		const struct sort_item *found = sort_find(items, 90, key);

		if (key < 10 || key % 2 || key >= 70)
			assert_null(found);
		else
			assert_ptr_equal(found, &items[3 * (key - 10) / 2]);
	}
	assert_null(sort_find(items, 0, 10));
}

static const uint8_t *bytes_of(const void *ctx, uint32_t value)
{
	return (const uint8_t *)ctx + 20 * (size_t)value;
}

/* Byte strings whose first 8 bytes are often equal are sorted by all bytes. */
static void by_bytes(void **state)
{
	uint64_t random = random_seed();
	struct sort_item items[300];
	uint8_t bytes[300 * 20];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i % 20 == 7 || i % 20 > 17
				   ? (uint8_t)(random_next(&random) % 5)
				   : 0x80;
	for (uint32_t i = 0; i < 300; i++)
		items[i] = (struct sort_item){0, i};
	assert_int_equal(sort_items_by_bytes(items, 300, bytes_of, bytes, 20),
			 0);
	for (size_t i = 1; i < 300; i++) {
		int cmp = memcmp(bytes_of(bytes, items[i - 1].value),
				 bytes_of(bytes, items[i].value), 20);

		assert_true(cmp < 0 ||
			    (!cmp && items[i - 1].value < items[i].value));
	}
	assert_int_equal(sort_items_by_bytes(items, 0, bytes_of, bytes, 20), 0);
}

static void strings(void **state)
{
	char b[] = "refs/b", refs[] = "refs/", empty[] = "";
	char dir[] = "refs/a/", a[] = "refs/a";
	char *items[] = {b, refs, empty, dir, a};

	sort_strings(items, sizeof(items) / sizeof(items[0]));
	for (size_t i = 1; i < sizeof(items) / sizeof(items[0]); i++)
		assert_true(strcmp(items[i - 1], items[i]) < 0);
	sort_strings(items, 0);
}

/*
 * Asserts that sort_versions_cmp() sorts the names in the order of the array.
 * `suffixes`: values of versionsort.suffix.
 */
static void assert_order(const char *const *names, size_t nr,
			 const char *const *suffixes, size_t suffix_nr)
{
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < nr; k++) {
			int cmp = sort_versions_cmp(names[i], names[k],
						    suffixes, suffix_nr);

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

/* The suffixes are those of the example in git-config(1). */
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

/* Compares random names. Sanitizers report a read past the end of a name. */
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
		ab = sort_versions_cmp(name[0], name[1], list, ARRAY_NR(list));
		ba = sort_versions_cmp(name[1], name[0], list, ARRAY_NR(list));
		assert_int_equal(ab<0, ba> 0);
		assert_int_equal(!ab, !strcmp(name[0], name[1]));
		free(name[0]);
		free(name[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_bytes),
		cmocka_unit_test(strings),
		cmocka_unit_test(finds_the_first),
		cmocka_unit_test(agrees_with_qsort),
		cmocka_unit_test(numbers),
		cmocka_unit_test(suffixes),
		cmocka_unit_test(which_suffix),
		cmocka_unit_test(any_names),
	};

	return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
