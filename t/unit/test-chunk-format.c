/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/chunk-format.c, which writes and reads the table of chunks of a
 * file. They prove that the example in chunk-format.h is right, and that
 * damaged tables are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/chunk-format.h"
#include "t/unit/hexdump.h"

#define EXAMPLE                                                                \
	"00000000 00000000"                                                    \
	"41424344 00000000 0000002c"                                           \
	"45464748 00000000 0000002f"                                           \
	"00000000 00000000 00000030"

enum { HEADER_LEN = 8, BODY_LEN = 0x30 };

static int read_contents(struct chunk chunks[2], const struct buf *file,
			 unsigned chunk_nr)
{
	struct cursor c = cursor_make(file->data + HEADER_LEN,
				      file->len - HEADER_LEN);

	chunks[0] = (struct chunk){.id = CHUNK_ID('E', 'F', 'G', 'H')};
	chunks[1] = (struct chunk){.id = CHUNK_ID('N', 'O', 'N', 'E')};
	return chunk_contents_read(chunks, 2, &c, (uint8_t *)file->data,
				   BODY_LEN, chunk_nr, "file", NULL);
}

static void make_example(struct buf *file)
{
	hexdump_parse(file, EXAMPLE);
	assert_int_equal(buf_append(file, "aaab", 4), 0);
}

static void test_example(void **state)
{
	const struct chunk written[2] = {
		{.id = CHUNK_ID('A', 'B', 'C', 'D'), .len = 3},
		{.id = CHUNK_ID('E', 'F', 'G', 'H'), .len = 1},
	};
	struct buf file = BUF_INIT, out = BUF_INIT;
	struct chunk chunks[2];

	make_example(&file);
	assert_int_equal(read_contents(chunks, &file, 2), 0);
	assert_ptr_equal(chunks[0].start, file.data + 0x2f);
	assert_int_equal(chunks[0].len, 1);
	assert_null(chunks[1].start);
	assert_int_equal(buf_append(&out, "before\0\0\0\0\0\0\0\0", 14), 0);
	assert_int_equal(chunk_contents_append(&out, 6, written, 2), 0);
	assert_int_equal(out.len, 6 + 0x2c);
	assert_memory_equal(out.data + 6, file.data, 0x2c);
	buf_release(&out);
	buf_release(&file);
}

/*
 * Cases: each stores `value` at the offset `off` of the example. This makes the
 * table of chunks invalid.
 */
static const struct {
	size_t off;
	uint32_t value;
} wrong[] = {
	{0x08, 0}, /* the table ends too early */
	/* The chunk EFGH occurs twice. */
	{0x08, 0x45464748},
	/* A chunk ends far after the end of the file. */
	{0x0c, 1},
	/* A chunk begins inside the table of chunks. */
	{0x10, 0x2b},
	/* A chunk ends before it begins. */
	{0x1c, 0x2b},
	/* The id after the last chunk is not zero. */
	{0x20, 0x41424344},
	/* The last chunk ends after the last byte that a chunk may have. */
	{0x28, 0x31},
};

static void test_refused(void **state)
{
	struct buf file = BUF_INIT;
	struct chunk chunks[2];

	make_example(&file);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint32_t was = load_be32(file.data + wrong[i].off);

		store_be32(file.data + wrong[i].off, wrong[i].value);
		assert_int_equal(read_contents(chunks, &file, 2), ERR_CORRUPT);
		store_be32(file.data + wrong[i].off, was);
	}
	assert_int_equal(read_contents(chunks, &file, 3), ERR_CORRUPT);
	assert_int_equal(read_contents(chunks, &file, 255), ERR_CORRUPT);
	for (; file.len > 0x2c; file.len--)
		assert_int_equal(read_contents(chunks, &file, 2), 0);
	for (; file.len > HEADER_LEN; file.len--)
		assert_int_equal(read_contents(chunks, &file, 2),
				 file.len < 0x2c ? ERR_CORRUPT : 0);
	buf_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
