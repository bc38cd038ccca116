/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/cursor.h, which takes bytes from a string that is being parsed.
 * They prove that every read checks the length, and that a failed read does not
 * move the cursor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/cursor.h"

static const uint8_t bytes[] = {1, 2,  3,  4,  5,  6,  7, 8,
				9, 10, 11, 12, 13, 14, 15};

static void takes_in_order(void **state)
{
	struct cursor c = cursor_make(bytes, sizeof(bytes));
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	assert_int_equal(cursor_left(&c), 15);
	assert_true(cursor_u8(&c, &u8));
	assert_int_equal(u8, 1);
	assert_true(cursor_be16(&c, &u16));
	assert_int_equal(u16, 0x0203);
	assert_true(cursor_be32(&c, &u32));
	assert_int_equal(u32, 0x04050607);
	assert_true(cursor_be64(&c, &u64));
	assert_true(u64 == UINT64_C(0x08090a0b0c0d0e0f));
	assert_int_equal(cursor_left(&c), 0);
}

static void short_input_is_refused(void **state)
{
	for (size_t len = 0; len < 8; len++) {
		struct cursor c = cursor_make(bytes, len);
		const uint8_t *p = NULL;
		uint64_t u64 = 77;
		uint32_t u32 = 77;
		uint16_t u16 = 77;

		assert_false(cursor_be64(&c, &u64));
		assert_true(u64 == 77);
		assert_int_equal(cursor_be32(&c, &u32), len >= 4);
		c = cursor_make(bytes, len);
		assert_int_equal(cursor_be16(&c, &u16), len >= 2);
		c = cursor_make(bytes, len);
		assert_false(cursor_skip(&c, len + 1));
		assert_false(cursor_bytes(&c, &p, len + 1));
		assert_null(p);
		assert_int_equal(cursor_left(&c), len);
	}
}

static void spans_point_into_the_input(void **state)
{
	struct cursor c = cursor_make(bytes, sizeof(bytes));
	const uint8_t *p;

	assert_true(cursor_skip(&c, 5));
	assert_true(cursor_bytes(&c, &p, 10));
	assert_ptr_equal(p, bytes + 5);
	assert_true(cursor_bytes(&c, &p, 0));
	assert_true(cursor_skip(&c, 0));
	assert_int_equal(cursor_left(&c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_in_order),
		cmocka_unit_test(short_input_is_refused),
		cmocka_unit_test(spans_point_into_the_input),
	};

	return cmocka_run_group_tests_name("cursor", tests, NULL, NULL);
}
