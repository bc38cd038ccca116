/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/side-table.c, the common format of .rev and .mtimes files.
 * test-rev.c and test-mtimes.c test sizes, damage and examples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "object/hash.h"
#include "pack/side-table.h"

static const struct side_table_kind kind = {"TEST", "table of tests"};
static const struct side_table_kind other = {"ELSE", "table of others"};

static void parse(const struct side_table_kind *as, const struct pack_idx *idx,
		  const struct buf *file, const char *complaint)
{
	struct error err = ERROR_INIT;
	const uint8_t *table;
	int ret = side_table_parse(&table, as, idx, file->data, file->len, "x",
				   &err);

	assert_int_equal(ret, complaint ? ERR_CORRUPT : 0);
	if (complaint)
		assert_non_null(strstr(err.msg, complaint));
	else
		assert_int_equal(load_be32(table + 4), 9);
}

static void check_algo(enum hash_algo algo)
{
	static const uint32_t numbers[2] = {7, 9};
	struct oid checksum = {{1, 2, 3}}, wrong = {{1, 2, 4}};
	struct buf file = BUF_INIT;
	struct pack_idx idx = {
		.algo = algo,
		.nr = 2,
		.pack_checksum = checksum.bytes,
	};

	/* The file is appended to a buffer that has bytes already. */
	assert_int_equal(buf_append_str(&file, "before"), 0);
	assert_int_equal(side_table_write(&file, &kind, numbers, 2, &checksum,
					  algo, NULL),
			 0);
	assert_memory_equal(file.data, "beforeTEST", 10);
	memmove(file.data, file.data + 6, file.len - 6);
	buf_set_len(&file, file.len - 6);
	parse(&kind, &idx, &file, NULL);
	assert_int_equal(
		hash_check_trailer(file.data, file.len, algo, "x", NULL), 0);

	parse(&other, &idx, &file, "table of others");
	idx.pack_checksum = wrong.bytes;
	parse(&kind, &idx, &file, "another pack");
	idx.nr = 3;
	parse(&kind, &idx, &file, "wrong size");
	buf_release(&file);
}

static void written_and_read(void **state)
{
	check_algo(HASH_SHA1);
	check_algo(HASH_SHA256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_and_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
