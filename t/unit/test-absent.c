/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/absent.c, the table of repositories that a store did not
 * have. They prove that an entry is valid for the given time only, and that the
 * size of the table is limited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "copies/copies.h"

static void test_age(void **state)
{
	struct stored_absent *absent = stored_absent_new();

	assert_non_null(absent);
	assert_false(stored_absent_has(absent, "a", 7, 100, UINT64_MAX));
	stored_absent_note(absent, "a", 7, 100);
	assert_true(stored_absent_has(absent, "a", 7, 100, 1));
	assert_false(stored_absent_has(absent, "a", 7, 100, 0));
	assert_true(stored_absent_has(absent, "a", 7, 149, 50));
	assert_false(stored_absent_has(absent, "a", 7, 150, 50));
	assert_false(stored_absent_has(absent, "b", 7, 100, 50));
	assert_false(stored_absent_has(absent, "a", 8, 100, 50));
	stored_absent_note(absent, "a", 7, 140);
	assert_true(stored_absent_has(absent, "a", 7, 150, 50));
	/*
	 * The entry of a missing repository is also valid for a thread that
	 * read the clock (130) before the entry was noted (140).
	 */
	assert_true(stored_absent_has(absent, "a", 7, 130, 50));
	stored_absent_forget(absent, "b", 7);
	assert_true(stored_absent_has(absent, "a", 7, 150, 50));
	stored_absent_forget(absent, "a", 7);
	assert_false(stored_absent_has(absent, "a", 7, 150, 50));
	stored_absent_free(absent);
	stored_absent_free(NULL);
}

/*
 * Clients choose the names, so the table must not grow. If two names have the
 * same place in the table, the later name replaces the earlier one.
 */
static void test_limit(void **state)
{
	struct stored_absent *absent = stored_absent_new();

	assert_non_null(absent);
	stored_absent_note(absent, "a", 7, 100);
	stored_absent_note(absent, "b", 7 + STORED_ABSENT_MAX, 100);
	stored_absent_note(absent, "c", 8, 100);
	assert_false(stored_absent_has(absent, "a", 7, 100, 50));
	assert_true(
		stored_absent_has(absent, "b", 7 + STORED_ABSENT_MAX, 100, 50));
	assert_true(stored_absent_has(absent, "c", 8, 100, 50));
	stored_absent_free(absent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
