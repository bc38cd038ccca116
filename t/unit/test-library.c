/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/library.c: a function of a shared library is found and called;
 * missing libraries and functions are errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sys/library.h"

static void test_find(void **state)
{
	double (*cosine)(double) = NULL;
	struct error err = ERROR_INIT;
	void *library;

	assert_int_equal(sys_library_open(&library, "libm.so.6", NULL), 0);
	assert_int_equal(sys_library_find(&cosine, library, "cos", NULL), 0);
	assert_true(cosine(0) == 1);
	assert_int_equal(
		sys_library_find(&cosine, library, "no_such_name", &err),
		ERR_MISSING);
	assert_non_null(strstr(err.msg, "no_such_name"));
	sys_library_close(library);
}

/*
 * If no library is named, the functions of the program itself are found. This
 * is needed with musl, whose libc contains crypt_r().
 */
static void test_program(void **state)
{
	size_t (*length)(const char *) = NULL;
	struct error err = ERROR_INIT;
	void *library;

	assert_int_equal(sys_library_open(&library, NULL, &err), 0);
	assert_int_equal(sys_library_find(&length, library, "strlen", &err), 0);
	assert_int_equal(length("abc"), 3);
	sys_library_close(library);
}

static void test_missing(void **state)
{
	struct error err = ERROR_INIT;
	void *library;

	assert_int_equal(sys_library_open(&library, "libno-such.so.1", &err),
			 ERR_MISSING);
	assert_non_null(strstr(err.msg, "cannot load libno-such.so.1"));
	assert_null(library);
	sys_library_close(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
