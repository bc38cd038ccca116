/* SPDX-License-Identifier: MIT */
/*
 * Tests of reftable/block-write.c, which writes the blocks of a reftable. They
 * prove that a full block accepts no further record, and that compressed blocks
 * can be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reftable/block.h"

static void test_full(void **state)
{
	struct reftable_block_writer bw;

	(void)state;
	reftable_block_writer_init(&bw);
	/*
	 * The limit (14) is the exact size of a block with one record. The
	 * header takes 4 bytes, the record 2 + 1 + 2, the restart 3, and the
	 * number of restarts 2.
	 */
	assert_int_equal(
		reftable_block_writer_start(&bw, REFTABLE_REFS, "", 0, 14, 16),
		0);
	assert_true(reftable_block_writer_is_empty(&bw));
	assert_int_equal(
		reftable_block_writer_add(&bw, "a", 1, 0, "abc", 3, false), 0);
	assert_true(reftable_block_writer_is_empty(&bw));
	assert_int_equal(
		reftable_block_writer_add(&bw, "a", 1, 0, "ab", 2, false), 1);
	assert_int_equal(
		reftable_block_writer_add(&bw, "b", 1, 0, "", 0, false), 0);
	assert_int_equal(reftable_block_writer_finish(&bw), 0);
	assert_int_equal(bw.bytes.len, 14);
	assert_memory_equal(bw.bytes.data, "r\0\0\016\0\010aab\0\0\4\0\1", 14);
	reftable_block_writer_release(&bw);
}

/*
 * A record of 5,000 bytes does not fit into a block of 100 bytes. The writer
 * accepts it only if `must_fit` is true. The record can be read from the
 * compressed block.
 */
static void test_deflated(void **state)
{
	struct reftable_block_writer bw;
	struct reftable_file file = {
		.footer = {.version = 1, .algo = HASH_SHA1}, .name = "a"};
	struct reftable_block block;
	struct reftable_cursor cur;
	char text[5000] = "";

	(void)state;
	reftable_block_writer_init(&bw);
	assert_int_equal(reftable_block_writer_start(&bw, REFTABLE_LOGS,
						     "123456789012345678901234",
						     24, 100, 16),
			 0);
	assert_int_equal(reftable_block_writer_add(&bw, "key", 3, 1, text,
						   sizeof(text), false),
			 0);
	assert_int_equal(reftable_block_writer_add(&bw, "key", 3, 1, text,
						   sizeof(text), true),
			 1);
	assert_int_equal(reftable_block_writer_finish(&bw), 0);
	assert_in_range(bw.bytes.len, 30, 200);
	file.bytes = (const uint8_t *)bw.bytes.data;
	file.end = bw.bytes.len;
	reftable_block_init(&block);
	reftable_cursor_init(&cur);
	assert_int_equal(reftable_block_open(&block, &file, 0, NULL), 0);
	assert_true(block.next_off == bw.bytes.len);
	reftable_cursor_start(&cur, &block);
	assert_int_equal(reftable_cursor_next(&cur, &file, NULL), 1);
	assert_string_equal(cur.key.data, "key");
	assert_int_equal(cursor_left(&cur.value), sizeof(text));
	reftable_cursor_release(&cur);
	/*
	 * If the last byte of a compressed block is missing, the block is
	 * invalid.
	 */
	file.end--;
	assert_int_equal(reftable_block_open(&block, &file, 0, NULL),
			 ERR_CORRUPT);
	reftable_block_release(&block);
	reftable_block_writer_release(&bw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_deflated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
