/* SPDX-License-Identifier: MIT */
/* base/unquote.c: known strings, invalid strings, and every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/unquote.h"

static void test_known(void **state)
{
	static const struct {
		const char *text, *said;
	} known[] = {
		{"\"\"", ""},
		{"\"a b\"", "a b"},
		{"\"a\\tb\\303\\251\"", "a\tb\303\251"},
		{"\"\\a\\b\\f\\n\\r\\t\\v\\\\\\\"\"", "\a\b\f\n\r\t\v\\\""},
	};

	for (size_t i = 0; i < ARRAY_NR(known); i++) {
		struct buf out = BUF_INIT;

		assert_int_equal(buf_append_str(&out, "x"), 0);
		assert_int_equal(unquote_c(&out, known[i].text, NULL), 0);
		assert_string_equal(out.data + 1, known[i].said);
		buf_release(&out);
	}
}

static void test_what_is_none(void **state)
{
	static const char *const bad[] = {
		"",        "a",         "\"",        "\"a",
		"\"\\\"",  "\"\\q\"",   "\"\\400\"", "\"\\18\"",
		"\"\\1\"", "\"\\x41\"", "\"a\"b",
	};

	for (size_t i = 0; i < ARRAY_NR(bad); i++) {
		struct buf out = BUF_INIT;

		assert_int_equal(unquote_c(&out, bad[i], NULL), ERR_INVALID);
		buf_release(&out);
	}
}

static void test_where_it_ends(void **state)
{
	struct buf out = BUF_INIT;
	const char *end;

	assert_int_equal(unquote_c(&out, "\"a\" \"b\"", &end), 0);
	assert_string_equal(end, " \"b\"");
	buf_release(&out);
}

static void test_every_byte(void **state)
{
	for (unsigned c = 0; c < 256; c++) {
		struct buf out = BUF_INIT;
		char text[8];

		snprintf(text, sizeof(text), "\"\\%03o\"", c);
		assert_int_equal(unquote_c(&out, text, NULL), 0);
		assert_int_equal(out.len, 1);
		assert_int_equal((unsigned char)out.data[0], c);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_what_is_none),
		cmocka_unit_test(test_where_it_ends),
		cmocka_unit_test(test_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
