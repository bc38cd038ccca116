/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/buf.c, a growable byte buffer. They prove that a NUL always
 * follows the content, and which calls keep or free memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/error.h"

static void starts_empty_and_terminated(void **state)
{
	struct buf b = BUF_INIT;

	assert_string_equal(b.data, "");
	assert_int_equal(b.len, 0);
	assert_int_equal(b.alloc, 0);
	buf_reset(&b);
	buf_release(&b);
	assert_string_equal(b.data, "");
}

static void appends_all_kinds(void **state)
{
	struct buf b = BUF_INIT;

	assert_int_equal(buf_append(&b, "ab\0c", 4), 0);
	assert_int_equal(buf_append_str(&b, "de"), 0);
	assert_int_equal(buf_append_char(&b, 'f'), 0);
	assert_int_equal(buf_printf(&b, "%s-%d", "g", 12), 0);
	assert_int_equal(b.len, 11);
	assert_memory_equal(b.data, "ab\0cdefg-12", 12);
	buf_release(&b);
}

static void appends_big_endian(void **state)
{
	struct buf b = BUF_INIT;

	assert_int_equal(buf_append_be32(&b, 0x01020304), 0);
	assert_int_equal(buf_append_be64(&b, UINT64_C(0x05060708090a0b0c)), 0);
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(b.data[i], i + 1);
	buf_release(&b);
}

static void grows_to_any_size(void **state)
{
	struct buf b = BUF_INIT;

	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(buf_append_be32(&b, i), 0);
	assert_int_equal(b.len, 400000);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(load_be32(b.data + 4 * i), i);
	assert_int_equal(b.data[b.len], '\0');
	buf_release(&b);
}

static void reset_keeps_memory(void **state)
{
	struct buf b = BUF_INIT;
	size_t alloc;

	assert_int_equal(buf_reserve(&b, 1000), 0);
	alloc = b.alloc;
	assert_true(alloc > 1000);
	assert_int_equal(buf_append_str(&b, "text"), 0);
	buf_reset(&b);
	assert_int_equal(b.alloc, alloc);
	assert_string_equal(b.data, "");
	buf_release(&b);
}

static void overflow_is_out_of_memory(void **state)
{
	struct buf b = BUF_INIT;

	assert_int_equal(buf_append_str(&b, "kept"), 0);
	assert_int_equal(buf_reserve(&b, SIZE_MAX), ERR_NOMEM);
	assert_int_equal(buf_reserve(&b, SIZE_MAX - 4), ERR_NOMEM);
	assert_string_equal(b.data, "kept");
	buf_release(&b);
}

static void detach_hands_over(void **state)
{
	struct buf b = BUF_INIT;
	size_t len = 99;
	char *s = buf_detach(&b, &len);

	assert_string_equal(s, "");
	assert_int_equal(len, 0);
	free(s);
	assert_int_equal(buf_append_str(&b, "mine"), 0);
	s = buf_detach(&b, &len);
	assert_string_equal(s, "mine");
	assert_int_equal(len, 4);
	assert_int_equal(b.alloc, 0);
	assert_string_equal(b.data, "");
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_empty_and_terminated),
		cmocka_unit_test(appends_all_kinds),
		cmocka_unit_test(appends_big_endian),
		cmocka_unit_test(grows_to_any_size),
		cmocka_unit_test(reset_keeps_memory),
		cmocka_unit_test(overflow_is_out_of_memory),
		cmocka_unit_test(detach_hands_over),
	};

	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
