/* SPDX-License-Identifier: MIT */
/*
 * Tests of reftable/block.c, which reads a block of a reftable. They prove that
 * a search finds the right record, and that reading a damaged block ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reftable/block.h"
#include "t/unit/random.h"

#define KEY_NR 200

/*
 * Makes a file of one index block (type 'i'). The key of record i is the number
 * 2 * i in five digits, for each i below KEY_NR. The record refers to the block
 * at position 128 + i.
 */
static void make_block(struct buf *bytes, unsigned interval)
{
	struct reftable_block_writer bw;

	reftable_block_writer_init(&bw);
	assert_int_equal(reftable_block_writer_start(&bw, REFTABLE_INDEX,
						     "123456789012345678901234",
						     24, 8000, interval),
			 0);
	for (unsigned i = 0; i < KEY_NR; i++) {
		char key[20];
		uint8_t value[2] = {0x80, (uint8_t)(i & 0x7f)};

		snprintf(key, sizeof(key), "%05u", i * 2);
		value[0] = (uint8_t)(0x80 | (i >> 7));
		assert_int_equal(reftable_block_writer_add(&bw, key, 5, 0,
							   value, 2, false),
				 1);
	}
	assert_int_equal(reftable_block_writer_finish(&bw), 0);
	buf_append(bytes, bw.bytes.data, bw.bytes.len);
	reftable_block_writer_release(&bw);
}

static struct reftable_file file_of(const struct buf *bytes)
{
	struct reftable_file file = {
		.bytes = (const uint8_t *)bytes->data,
		.end = bytes->len,
		.footer = {.version = 1, .algo = HASH_SHA1},
		.name = "a",
	};

	return file;
}

static void test_seek(void **state)
{
	static const unsigned intervals[] = {1, 2, 16, 1000};

	(void)state;
	for (size_t n = 0; n < 4; n++) {
		struct buf bytes = BUF_INIT;
		struct reftable_file file;
		struct reftable_block block;
		struct reftable_cursor cur;

		make_block(&bytes, intervals[n]);
		file = file_of(&bytes);
		reftable_block_init(&block);
		reftable_cursor_init(&cur);
		assert_int_equal(reftable_block_open(&block, &file, 0, NULL),
				 0);
		assert_int_equal(block.type, REFTABLE_INDEX);
		assert_true(block.next_off == bytes.len);
		for (unsigned i = 0; i < 2 * KEY_NR; i++) {
			unsigned passed = 0;
			char key[20];
			int ret;

			snprintf(key, sizeof(key), "%05u", i);
			assert_int_equal(reftable_cursor_seek(&cur, &file,
							      &block, key, 5,
							      NULL),
					 0);
			for (;;) {
				uint64_t v;

				ret = reftable_cursor_next(&cur, &file, NULL);
				if (ret <= 0)
					break;
				assert_true(reftable_cursor_take_off(&cur, &v));
				if (strcmp(cur.key.data, key) >= 0)
					break;
				passed++;
			}
			assert_in_range(passed, 0, intervals[n]);
			assert_int_equal(ret, i <= 2 * KEY_NR - 2);
			if (ret)
				assert_int_equal(atoi(cur.key.data),
						 (i + 1) / 2 * 2);
		}
		reftable_cursor_release(&cur);
		reftable_block_release(&block);
		buf_release(&bytes);
	}
}

/*
 * Reading a damaged block gives an error or records. The number of records must
 * be limited by the size of the block.
 */
static void test_damaged(void **state)
{
	uint64_t seed = random_seed();
	struct buf bytes = BUF_INIT;

	(void)state;
	make_block(&bytes, 16);
	for (int i = 0; i < 3000; i++) {
		size_t at = random_next(&seed) % bytes.len;
		char old = bytes.data[at];
		struct reftable_file file;
		struct reftable_block block;
		struct reftable_cursor cur;
		uint64_t v;

		bytes.data[at] = (char)random_next(&seed);
		file = file_of(&bytes);
		reftable_block_init(&block);
		reftable_cursor_init(&cur);
		if (!reftable_block_open(&block, &file, 0, NULL)) {
			unsigned nr = 0;

			reftable_cursor_start(&cur, &block);
			while (reftable_cursor_next(&cur, &file, NULL) > 0 &&
			       reftable_cursor_take_off(&cur, &v))
				assert_in_range(++nr, 1, bytes.len);
		}
		reftable_cursor_release(&cur);
		reftable_block_release(&block);
		bytes.data[at] = old;
	}
	buf_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seek),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
