/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/idx-write.c, which writes pack indexes. They prove that the
 * bytes are those of the example in pack/idx.h, and that invalid input is
 * refused. test-idx.c tests that written files can be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "pack/idx.h"
#include "t/unit/hexdump.h"

#define EXAMPLE_IDS                                                            \
	"ce013625 030ba8db a906f756 967f9e9c a394464a"                         \
	"de041240 1f4a9e5f 05411f44 eaf9c86d 46096746"

static void test_example(void **state)
{
	struct buf want = BUF_INIT, ids = BUF_INIT, out = BUF_INIT;
	struct pack_idx_entry entry = {NULL, 12, 0x52941500};
	struct oid checksum;

	hexdump_parse(&want, "ff744f63 00000002 00000000 x 206 00000001 x 50"
			     "ce013625 030ba8db a906f756 967f9e9c a394464a"
			     "52941500 0000000c"
			     "de041240 1f4a9e5f 05411f44 eaf9c86d 46096746"
			     "0b629745 910d3a0b e9ee1015 a3cd11b5 09020143");
	hexdump_parse(&ids, EXAMPLE_IDS);
	entry.oid = (uint8_t *)ids.data;
	oid_from_raw(&checksum, (uint8_t *)ids.data + 20, HASH_SHA1);
	assert_int_equal(buf_append(&out, "keep", 4), 0);
	assert_int_equal(
		pack_idx_write(&out, &entry, 1, &checksum, 2, HASH_SHA1, NULL),
		0);
	assert_int_equal(out.len, want.len + 4);
	assert_memory_equal(out.data + 4, want.data, want.len);
	buf_release(&out);
	buf_release(&ids);
	buf_release(&want);
}

static void test_refused(void **state)
{
	static const uint8_t a[20] = {1}, b[20] = {2};
	struct pack_idx_entry entries[2] = {{b, 12, 0}, {a, 50, 0}};
	struct oid checksum = OID_ZERO_INIT;
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;

	assert_int_equal(
		pack_idx_write(&out, entries, 2, &checksum, 2, HASH_SHA1, &err),
		ERR_INVALID);
	entries[0].oid = a;
	entries[1] = (struct pack_idx_entry){b, UINT64_C(1) << 32, 0};
	assert_int_equal(
		pack_idx_write(&out, entries, 2, &checksum, 3, HASH_SHA1, &err),
		ERR_INVALID);
	assert_int_equal(
		pack_idx_write(&out, entries, 2, &checksum, 1, HASH_SHA1, &err),
		ERR_INVALID);
	assert_string_equal(err.msg, "pack too large for index version 1");
	assert_int_equal(out.len, 0);
	assert_int_equal(
		pack_idx_write(&out, entries, 2, &checksum, 2, HASH_SHA1, &err),
		0);
	buf_release(&out);
}

/*
 * Writes and reads the lowest and highest offsets that need 31, 32 and 64 bits.
 */
static void test_offsets(void **state)
{
	static const uint64_t offsets[] = {12,
					   0x7fffffff,
					   0x80000000,
					   0xffffffff,
					   UINT64_C(0x100000000),
					   UINT64_MAX - 1};
	uint8_t ids[6][20] = {{1}, {1, 1}, {3}, {4}, {5}, {6}};
	struct pack_idx_entry entries[6];
	struct oid checksum = OID_ZERO_INIT;

	for (uint32_t i = 0; i < 6; i++)
		entries[i] = (struct pack_idx_entry){ids[i], offsets[i], i};
	for (unsigned version = 1; version <= 2; version++) {
		uint32_t nr = version == 1 ? 4 : 6;
		struct buf out = BUF_INIT;
		struct pack_idx idx;

		assert_int_equal(pack_idx_write(&out, entries, nr, &checksum,
						version, HASH_SHA1, NULL),
				 0);
		assert_int_equal(pack_idx_parse(&idx, out.data, out.len,
						HASH_SHA1, "f", NULL),
				 0);
		assert_int_equal(idx.off64_nr, version == 1 ? 0 : 4);
		for (uint32_t i = 0; i < nr; i++)
			assert_true(pack_idx_offset(&idx, i) == offsets[i]);
		pack_idx_release(&idx);
		buf_release(&out);
	}
}

/*
 * The caller asks for version 1. But if an offset reaches the limit
 * `off64_from`, version 2 is written. If the limit is 0, the version is always
 * the one that the caller asks for.
 */
static void test_version_of_limit(void **state)
{
	static const uint64_t offsets[] = {12, 1999, 2000};
	static const struct {
		unsigned version;
		uint32_t off64_from, nr, off64_nr;
	} cases[] = {{1, 2000, 2, 0}, {2, 2000, 3, 1}, {2, 1999, 3, 2},
		     {2, 12, 1, 1},   {1, 13, 1, 0},   {1, 0, 3, 0}};
	uint8_t ids[3][20] = {{1}, {2}, {3}};
	struct pack_idx_entry entries[3];
	struct oid checksum = OID_ZERO_INIT;

	for (uint32_t i = 0; i < 3; i++)
		entries[i] = (struct pack_idx_entry){ids[i], offsets[i], i};
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct pack_idx_format format = {
			.version = 1, .off64_from = cases[i].off64_from};
		struct buf out = BUF_INIT;
		struct pack_idx idx;

		assert_int_equal(pack_idx_write_as(&out, entries, cases[i].nr,
						   &checksum, &format,
						   HASH_SHA1, NULL),
				 0);
		assert_int_equal(pack_idx_parse(&idx, out.data, out.len,
						HASH_SHA1, "f", NULL),
				 0);
		assert_int_equal(idx.version, cases[i].version);
		assert_int_equal(idx.off64_nr, cases[i].off64_nr);
		for (uint32_t k = 0; k < cases[i].nr; k++)
			assert_true(pack_idx_offset(&idx, k) == offsets[k]);
		pack_idx_release(&idx);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_version_of_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
