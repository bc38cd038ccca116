/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/affix.h: starts_with() and ends_with() also handle empty texts,
 * equal texts, and affixes that are longer than the text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/affix.h"

static void test_start(void **state)
{
	assert_true(starts_with("refs/heads/main", "refs/heads/"));
	assert_true(starts_with("refs/", "refs/"));
	assert_true(starts_with("refs", ""));
	assert_false(starts_with("refs", "refs/"));
	assert_false(starts_with("arefs/", "refs/"));
	assert_false(starts_with("", "r"));
}

static void test_end(void **state)
{
	assert_true(ends_with("pack-1.idx", ".idx"));
	assert_true(ends_with(".idx", ".idx"));
	assert_true(ends_with("pack", ""));
	assert_false(ends_with("idx", ".idx"));
	assert_false(ends_with("pack.idx.lock", ".idx"));
	assert_false(ends_with("", "x"));
}

static void test_after_word(void **state)
{
	assert_string_equal(after_word("oid 12", "oid"), "12");
	assert_string_equal(after_word("oid ", "oid"), "");
	assert_null(after_word("oid", "oid"));
	assert_null(after_word("oidx 1", "oid"));
	assert_null(after_word("", "oid"));
}

static void test_below(void **state)
{
	assert_true(is_at_or_below("refs/heads", "refs"));
	assert_true(is_at_or_below("refs", "refs"));
	assert_true(is_at_or_below("/refs", ""));
	assert_false(is_at_or_below("refsx", "refs"));
	assert_false(is_at_or_below("ref", "refs"));
	assert_false(is_at_or_below("arefs/x", "refs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_after_word),
		cmocka_unit_test(test_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
