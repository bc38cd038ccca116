/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/base64.c, which decodes base64: published examples are decoded,
 * and wrong texts and small buffers are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"

/*
 * Decodes the examples of RFC 4648, section 10, and a text with the characters
 * '+' and '/'.
 */
static void test_vectors(void **state)
{
	static const char *const vectors[][2] = {
		{"", ""},
		{"Zg==", "f"},
		{"Zm8=", "fo"},
		{"Zm9v", "foo"},
		{"Zm9vYg==", "foob"},
		{"Zm9vYmE=", "fooba"},
		{"Zm9vYmFy", "foobar"},
		{"+/+/", "\xfb\xff\xbf"},
	};
	char out[16];

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const char *text = vectors[i][0], *bytes = vectors[i][1];

		assert_int_equal(base64_decode(out, 16, text, strlen(text)),
				 strlen(bytes));
		assert_memory_equal(out, bytes, strlen(bytes));
	}
	assert_int_equal(base64_decode(out, 6, "Zm9vYmFy", 8), 6);
	assert_int_equal(base64_decode(out, 5, "Zm9vYmFy", 8), -1);
}

static void test_wrong(void **state)
{
	static const char *const wrong[] = {
		"Zg",   "Zg=",  "Zg= ",     "Z===",      "====",
		"=Zg=", "Zh==", "Zg==Zg==", "Zm9v\nZg=", "Zm9-",
	};
	char out[16];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(
			base64_decode(out, 16, wrong[i], strlen(wrong[i])), -1);
	assert_int_equal(base64_decode(out, 16, "Zg\0=", 4), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
