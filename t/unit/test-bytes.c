/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/bytes.h, the loads and stores of integers. They prove that
 * bytes are in big-endian order at aligned and unaligned addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"

static void stores_are_big_endian(void **state)
{
	uint8_t b[9] = {0};

	store_be16(b + 1, 0x0102);
	assert_memory_equal(b, "\0\1\2\0\0\0\0\0\0", 9);
	store_be32(b + 1, 0x01020304);
	assert_memory_equal(b, "\0\1\2\3\4\0\0\0\0", 9);
	store_be64(b + 1, UINT64_C(0x0102030405060708));
	assert_memory_equal(b, "\0\1\2\3\4\5\6\7\10", 9);
}

static void loads_undo_stores(void **state)
{
	uint8_t b[16];

	for (size_t at = 0; at < 8; at++) {
		store_be16(b + at, 0xfedc);
		assert_int_equal(load_be16(b + at), 0xfedc);
		store_be32(b + at, 0xfedcba98);
		assert_int_equal(load_be32(b + at), 0xfedcba98);
		store_be64(b + at, UINT64_C(0xfedcba9876543210));
		assert_true(load_be64(b + at) == UINT64_C(0xfedcba9876543210));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_are_big_endian),
		cmocka_unit_test(loads_undo_stores),
	};

	return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
