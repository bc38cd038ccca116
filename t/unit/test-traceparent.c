/* SPDX-License-Identifier: MIT */
/*
 * Tests of wire/traceparent.c, which parses the header traceparent (W3C Trace
 * Context): valid headers are accepted, and a wrong byte is noticed at each
 * position.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "wire/traceparent.h"

#define VALID "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static void test_valid(void **state)
{
	assert_true(traceparent_is_valid(VALID));
	assert_true(traceparent_is_valid("cc-00000000000000000000000000000001-"
					 "1000000000000000-ff"));
}

static void test_invalid(void **state)
{
	static const char *const texts[] = {
		"",
		"00",
		VALID "-",
		VALID "-more",
		VALID " ",
		"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
		"00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	};

	assert_false(traceparent_is_valid(NULL));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(traceparent_is_valid(texts[i]));
}

/*
 * A text with one wrong character and a text that ends too early are not valid.
 * This is tried at each position.
 */
static void test_each_byte(void **state)
{
	char text[TRACEPARENT_LEN + 1] = VALID;

	for (size_t i = 0; i < TRACEPARENT_LEN; i++) {
		char c = text[i];

		text[i] = c == '-' ? '0' : 'g';
		assert_false(traceparent_is_valid(text));
		text[i] = '\0';
		assert_false(traceparent_is_valid(text));
		text[i] = c;
	}
	assert_true(traceparent_is_valid(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_each_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
