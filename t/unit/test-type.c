/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/type.c: names of object types are converted to types and
 * back, and unknown names are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "object/type.h"

static void test_round_trip(void **state)
{
	for (enum object_type t = OBJ_COMMIT; t <= OBJ_TAG; t++) {
		const char *name = object_type_name(t);

		assert_non_null(name);
		assert_int_equal(object_type_by_name(name, strlen(name)), t);
	}
	assert_string_equal(object_type_name(OBJ_BLOB), "blob");
	assert_null(object_type_name(OBJ_NONE));
	assert_null(object_type_name(OBJ_OFS_DELTA));
	assert_null(object_type_name((enum object_type)5));
}

static void test_unknown(void **state)
{
	assert_int_equal(object_type_by_name("blobs", 5), OBJ_NONE);
	assert_int_equal(object_type_by_name("blobs", 4), OBJ_BLOB);
	assert_int_equal(object_type_by_name("blo", 3), OBJ_NONE);
	assert_int_equal(object_type_by_name("", 0), OBJ_NONE);
	assert_int_equal(object_type_by_name("Tree", 4), OBJ_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
