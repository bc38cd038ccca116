/* SPDX-License-Identifier: MIT */
/* Tests of base/strlist.c: strings are copied, sorted and freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/strlist.h"

static void test_list(void **state)
{
	struct strlist list = STRLIST_INIT;
	char text[] = "b";

	(void)state;
	strlist_sort(&list);
	assert_int_equal(strlist_add(&list, text), 0);
	text[0] = 'x';
	assert_int_equal(strlist_add_len(&list, "cd", 1), 0);
	assert_int_equal(strlist_add(&list, ""), 0);
	assert_int_equal(strlist_add(&list, "a"), 0);
	strlist_sort(&list);
	assert_int_equal(list.nr, 4);
	assert_string_equal(list.items[0], "");
	assert_string_equal(list.items[1], "a");
	assert_string_equal(list.items[2], "b");
	assert_string_equal(list.items[3], "c");
	strlist_release(&list);
	assert_int_equal(list.nr, 0);
	assert_int_equal(strlist_add(&list, "again"), 0);
	strlist_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
