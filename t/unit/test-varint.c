/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/varint.h: each number has one encoding, and numbers that are
 * too large are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/varint.h"
#include "t/unit/random.h"

static void assert_round_trip(uint64_t v)
{
	uint8_t bytes[VARINT_MAX_LEN];
	size_t len = varint_put(bytes, v);
	struct cursor c = cursor_make(bytes, len);
	uint64_t found;

	assert_int_equal(len, varint_len(v));
	assert_in_range(len, 1, VARINT_MAX_LEN);
	assert_true(varint_take(&c, &found));
	assert_true(found == v);
	assert_int_equal(cursor_left(&c), 0);
	for (size_t cut = 0; cut < len; cut++) {
		c = cursor_make(bytes, cut);
		assert_false(varint_take(&c, &found));
		assert_int_equal(cursor_left(&c), cut);
	}
}

static void test_round_trip(void **state)
{
	uint64_t seed = random_seed();

	(void)state;
	for (unsigned bits = 0; bits < 64; bits++) {
		assert_round_trip(UINT64_C(1) << bits);
		assert_round_trip((UINT64_C(1) << bits) - 1);
		assert_round_trip(random_next(&seed) >> bits);
	}
	assert_round_trip(UINT64_MAX);
}

/* The examples in the comment of varint.h. */
static void test_examples(void **state)
{
	static const struct {
		uint64_t v;
		uint8_t bytes[2];
		size_t len;
	} examples[] = {
		{0, {0x00}, 1},         {127, {0x7f}, 1},
		{128, {0x80, 0x00}, 2}, {255, {0x80, 0x7f}, 2},
		{256, {0x81, 0x00}, 2}, {16511, {0xff, 0x7f}, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		uint8_t bytes[VARINT_MAX_LEN];

		assert_int_equal(varint_put(bytes, examples[i].v),
				 examples[i].len);
		assert_memory_equal(bytes, examples[i].bytes, examples[i].len);
	}
}

static void test_too_large(void **state)
{
	static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff, 0x7f};
	struct cursor c = cursor_make(bytes, sizeof(bytes));
	uint64_t v = 7;

	(void)state;
	assert_false(varint_take(&c, &v));
	assert_true(v == 7);
	assert_int_equal(cursor_left(&c), sizeof(bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
