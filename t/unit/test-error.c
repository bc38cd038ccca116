/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/error.c, the error codes and their messages. They prove that an
 * error keeps its code and message, and that long messages are cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"

static void keeps_code_and_message(void **state)
{
	struct error err = ERROR_INIT;

	assert_int_equal(error_set(&err, ERR_INVALID, "bad %s %d", "thing", 7),
			 ERR_INVALID);
	assert_int_equal(err.code, ERR_INVALID);
	assert_int_equal(err.sys_errno, 0);
	assert_string_equal(err.msg, "bad thing 7");
}

static void words_around_a_message(void **state)
{
	struct error err = ERROR_INIT;

	error_set(&err, ERR_CORRUPT, "bad byte");
	error_set(&err, ERR_CORRUPT, "file: %s!", err.msg);
	assert_string_equal(err.msg, "file: bad byte!");
	error_set_at(&err, ERR_CORRUPT, "f", 3, "(%s)", err.msg);
	assert_string_equal(err.msg, "f: (file: bad byte!) at offset 3");
}

static void another_code(void **state)
{
	struct error err = ERROR_INIT;

	errno = ENOENT;
	error_set_errno(&err, "no file");
	assert_int_equal(error_recode(&err, ERR_MISSING), ERR_MISSING);
	assert_int_equal(err.code, ERR_MISSING);
	assert_int_equal(err.sys_errno, ENOENT);
	assert_non_null(strstr(err.msg, "no file: "));
	assert_int_equal(error_recode(NULL, ERR_PEER), ERR_PEER);
}

static void later_call_overwrites(void **state)
{
	struct error err = ERROR_INIT;

	errno = ENOSPC;
	error_set_errno(&err, "first");
	error_set(&err, ERR_PEER, "second");
	assert_int_equal(err.code, ERR_PEER);
	assert_int_equal(err.sys_errno, 0);
	assert_string_equal(err.msg, "second");
}

static void errno_is_named_and_kept(void **state)
{
	struct error err = ERROR_INIT;
	char expect[200] = "cannot open 'x': ";

	strcat(expect, strerror(EACCES));
	errno = EACCES;
	assert_int_equal(error_set_errno(&err, "cannot open '%s'", "x"),
			 ERR_IO);
	assert_int_equal(err.code, ERR_IO);
	assert_int_equal(err.sys_errno, EACCES);
	assert_string_equal(err.msg, expect);
}

static void place_in_a_file(void **state)
{
	struct error err = ERROR_INIT;

	assert_int_equal(error_set_at(&err, ERR_CORRUPT, "p.idx",
				      UINT64_C(5000000000), "bad %s", "fanout"),
			 ERR_CORRUPT);
	assert_string_equal(err.msg, "p.idx: bad fanout at offset 5000000000");
}

static void nobody_has_to_listen(void **state)
{
	assert_int_equal(error_set(NULL, ERR_MISSING, "x"), ERR_MISSING);
	assert_int_equal(error_set_errno(NULL, "x"), ERR_IO);
	assert_int_equal(error_set_at(NULL, ERR_CORRUPT, "f", 0, "x"),
			 ERR_CORRUPT);
	assert_int_equal(error_nomem(NULL), ERR_NOMEM);
}

static void long_text_is_cut(void **state)
{
	static char text[3 * ERROR_MESSAGE_MAX];
	struct error err = ERROR_INIT;

	memset(text, 'x', sizeof(text) - 1);
	error_set(&err, ERR_INVALID, "%s", text);
	assert_int_equal(strlen(err.msg), ERROR_MESSAGE_MAX - 1);
	errno = EIO;
	error_set_errno(&err, "%s", text);
	assert_int_equal(strlen(err.msg), ERROR_MESSAGE_MAX - 1);
	error_set_at(&err, ERR_CORRUPT, text, 1, "%s", text);
	assert_int_equal(strlen(err.msg), ERROR_MESSAGE_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_code_and_message),
		cmocka_unit_test(words_around_a_message),
		cmocka_unit_test(another_code),
		cmocka_unit_test(later_call_overwrites),
		cmocka_unit_test(errno_is_named_and_kept),
		cmocka_unit_test(place_in_a_file),
		cmocka_unit_test(nobody_has_to_listen),
		cmocka_unit_test(long_text_is_cut),
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
