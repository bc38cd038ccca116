/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/mem.c, which allocates arrays: a size that overflows is
 * refused, and a growing array keeps its content.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

static void sums_and_products_are_checked(void **state)
{
	size_t out = 5;

	assert_false(mem_add(&out, SIZE_MAX, 1));
	assert_false(mem_mul(&out, SIZE_MAX / 2, 3));
	assert_int_equal(out, 5);
	assert_true(mem_add(&out, SIZE_MAX - 1, 1));
	assert_true(out == SIZE_MAX);
	assert_true(mem_mul(&out, SIZE_MAX / 2, 2));
	assert_true(out == SIZE_MAX - 1);
}

static void streams_limit_their_content(void **state)
{
	assert_true(mem_can_inflate(0, 0));
	assert_true(mem_can_inflate(1031, 0));
	assert_false(mem_can_inflate(1032, 0));
	assert_true(mem_can_inflate(10 * 1032, 10));
	assert_false(mem_can_inflate(11 * 1032, 10));
	assert_false(mem_can_inflate(UINT64_MAX, UINT32_MAX));
}

static void no_items_is_a_valid_array(void **state)
{
	void *a = mem_alloc(0, 8), *b = mem_calloc(0, 8);

	assert_non_null(a);
	assert_non_null(b);
	free(a);
	free(b);
}

static void too_large_is_null(void **state)
{
	assert_null(mem_alloc(SIZE_MAX / 4, 8));
	assert_null(mem_calloc(SIZE_MAX / 4, 8));
}

static void calloc_is_zeroed(void **state)
{
	uint64_t *a = mem_calloc(5000, sizeof(*a));

	assert_non_null(a);
	for (size_t i = 0; i < 5000; i++)
		assert_true(a[i] == 0);
	free(a);
}

static void copies_are_terminated(void **state)
{
	char *a = mem_strndup("abcdef", 3), *b = mem_strdup("xyz");

	assert_string_equal(a, "abc");
	assert_string_equal(b, "xyz");
	free(a);
	free(b);
	assert_null(mem_strndup("", SIZE_MAX));
}

static void grows_linearly(void **state)
{
	uint32_t *a = NULL;
	size_t alloc = 0, moves = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		size_t before = alloc;

		assert_int_equal(mem_grow(&a, &alloc, i + 1, sizeof(*a)), 0);
		moves += before != alloc;
		a[i] = i;
	}
	assert_true(moves < 50);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(a[i], i);
	free(a);
}

static void failed_growth_changes_nothing(void **state)
{
	uint32_t *a = NULL, *before;
	size_t alloc = 0, alloc_before;

	assert_int_equal(mem_grow(&a, &alloc, 1, sizeof(*a)), 0);
	a[0] = 42;
	before = a;
	alloc_before = alloc;
	assert_int_equal(mem_grow(&a, &alloc, SIZE_MAX / 2, sizeof(*a)),
			 ERR_NOMEM);
	assert_ptr_equal(a, before);
	assert_int_equal(alloc, alloc_before);
	assert_int_equal(a[0], 42);
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_and_products_are_checked),
		cmocka_unit_test(streams_limit_their_content),
		cmocka_unit_test(no_items_is_a_valid_array),
		cmocka_unit_test(too_large_is_null),
		cmocka_unit_test(calloc_is_zeroed),
		cmocka_unit_test(copies_are_terminated),
		cmocka_unit_test(grows_linearly),
		cmocka_unit_test(failed_growth_changes_nothing),
	};

	return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
