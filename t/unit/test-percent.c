/* SPDX-License-Identifier: MIT */
/* base/percent.c: known strings, invalid codes, and every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/percent.h"

static void test_encode(void **state)
{
	struct buf out = BUF_INIT;

	assert_int_equal(percent_encode(&out, "a b%,;\n\x7f\xc3", 9, ",;"), 0);
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
		percent_decode(text);
		assert_string_equal(text, cases[i][1]);
	}
}

static void test_every_byte(void **state)
{
	char all[256] = "";
	struct buf out = BUF_INIT;

	for (int i = 1; i < 256; i++)
		all[i - 1] = (char)i;
	assert_int_equal(percent_encode(&out, all, 255, ""), 0);
	for (size_t i = 0; i < out.len; i++)
		assert_true(out.data[i] > ' ' && out.data[i] <= '~');
	percent_decode(out.data);
	assert_string_equal(out.data, all);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encode),
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
