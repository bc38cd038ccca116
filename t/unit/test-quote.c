/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/quote.c, which quotes paths as Git does: known strings, invalid
 * strings, and every byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <stdio.h>
#include <cmocka.h>

#include "base/quote.h"
#include "base/error.h"
#include "base/mem.h"

static void test_encode(void **state)
{
	struct buf out = BUF_INIT;

	assert_int_equal(quote_percent(&out, "a b%,;\n\x7f\xc3", 9, ",;"), 0);
	assert_string_equal(out.data, "a%20b%25%2c%3b%0a%7f%c3");
	buf_release(&out);
}

static void test_decode(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},         {"a%20b", "a b"}, {"%2C%2c", ",,"},
		{"100%", "100%"}, {"%2", "%2"},     {"%zz%4", "%zz%4"},
		{"%00x", "%00x"}, {"a+b", "a+b"},   {"%25%32%30", "%20"},
		{"%%41", "%A"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];

		strcpy(text, cases[i][0]);
		quote_undo_percent(text);
		assert_string_equal(text, cases[i][1]);
	}
}

static void test_every_byte(void **state)
{
	char all[256] = "";
	struct buf out = BUF_INIT;

	for (int i = 1; i < 256; i++)
		all[i - 1] = (char)i;
	assert_int_equal(quote_percent(&out, all, 255, ""), 0);
	for (size_t i = 0; i < out.len; i++)
		assert_true(out.data[i] > ' ' && out.data[i] <= '~');
	quote_undo_percent(out.data);
	assert_string_equal(out.data, all);
	buf_release(&out);
}

static void test_quoted(void **state)
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
		assert_int_equal(quote_undo_c(&out, known[i].text, NULL), 0);
		assert_string_equal(out.data + 1, known[i].said);
		buf_release(&out);
	}
}

static void test_not_quoted(void **state)
{
	static const char *const bad[] = {
		"",        "a",         "\"",        "\"a",
		"\"\\\"",  "\"\\q\"",   "\"\\400\"", "\"\\18\"",
		"\"\\1\"", "\"\\x41\"", "\"a\"b",
	};

	for (size_t i = 0; i < ARRAY_NR(bad); i++) {
		struct buf out = BUF_INIT;

		assert_int_equal(quote_undo_c(&out, bad[i], NULL), ERR_INVALID);
		buf_release(&out);
	}
}

static void test_where_it_ends(void **state)
{
	struct buf out = BUF_INIT;
	const char *end;

	assert_int_equal(quote_undo_c(&out, "\"a\" \"b\"", &end), 0);
	assert_string_equal(end, " \"b\"");
	buf_release(&out);
}

static void test_every_quoted_byte(void **state)
{
	for (unsigned c = 0; c < 256; c++) {
		struct buf out = BUF_INIT;
		char text[8];

		snprintf(text, sizeof(text), "\"\\%03o\"", c);
		assert_int_equal(quote_undo_c(&out, text, NULL), 0);
		assert_int_equal(out.len, 1);
		assert_int_equal((unsigned char)out.data[0], c);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encode),
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_quoted),
		cmocka_unit_test(test_not_quoted),
		cmocka_unit_test(test_where_it_ends),
		cmocka_unit_test(test_every_quoted_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
