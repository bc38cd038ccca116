/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/midx-layout.c, which writes the chunks of a multi-pack-index:
 * parsing the file gives the same values, for a single file and for a layer of
 * a chain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "pack/midx-layout.h"

enum { NR = 4, BASE_NR = 100 };

static void test_layer(void **state)
{
	/*
	 * Names of the packs, which are not sorted. In pack order, two objects
	 * of pack 1 come before two objects of pack 0.
	 */
	static const char *const names[] = {"pack-z.idx", "pack-y.idx"};
	/* bit_pos to midx_pos */
	static const uint32_t bits[NR] = {3, 1, 2, 0};
	uint8_t ids[NR][20] = {{1}, {1, 2}, {9}, {255}};
	const struct pack_midx_copy copies[NR] = {
		{ids[0], UINT64_C(0x500000000), 0, 0},
		{ids[1], 90, 1, 0},
		{ids[2], 12, 0, 0},
		{ids[3], 12, 1, 0},
	};
	const struct pack_midx_layout l = {
		.copies = copies,
		.nr = NR,
		.names = names,
		.pack_nr = 2,
		.preferred = 1,
		.base_nr = BASE_NR,
		.with_order = true,
		.version = 2,
		.algo = HASH_SHA1,
	};
	struct pack_midx_written written;
	struct pack_midx_order order;
	struct buf out = BUF_INIT;
	struct pack_midx m;

	assert_int_equal(pack_midx_lay_out(&out, &l, &written), 0);
	assert_int_equal(written.nr, NR);
	assert_int_equal(
		pack_midx_parse(&m, out.data, out.len, HASH_SHA1, "m", NULL),
		0);
	m.base_nr = BASE_NR;
	assert_memory_equal(m.checksum, written.checksum.bytes, 20);
	assert_string_equal(m.names[0], "pack-z.idx");
	assert_int_equal(m.off64_nr, 1);
	for (uint32_t i = 0; i < NR; i++) {
		assert_memory_equal(pack_midx_oid(&m, i), ids[i], 20);
		assert_int_equal(pack_midx_pack(&m, i), copies[i].pack);
		assert_true(pack_midx_offset(&m, i) == copies[i].offset);
	}
	assert_int_equal(load_be32(m.order), BASE_NR + 3);
	assert_int_equal(load_be32(m.spans), BASE_NR + 2);
	assert_int_equal(pack_midx_order_init(&order, &m, NULL, 0, NULL), 0);
	for (uint32_t bit = 0; bit < NR; bit++)
		assert_int_equal(pack_midx_order_pos(&order, bit), bits[bit]);
	pack_midx_order_release(&order);
	pack_midx_release(&m);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
