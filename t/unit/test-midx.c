/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/midx.c and midx-order.c: the example of pack/midx.h is read,
 * and invalid files are refused. Reading a damaged file must never access bytes
 * outside of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "pack/rev.h"
#include "t/unit/hexdump.h"
#include "t/unit/midxfile.h"

/*
 * Bytes of the multi-pack-index that the opening comment of pack/midx.h shows.
 */
#define EXAMPLE                                                                \
	"4d494458 01 01 06 00 00000001"                                        \
	" 504e414d 00000000 00000060"                                          \
	" 4f494446 00000000 00000094"                                          \
	" 4f49444c 00000000 00000494"                                          \
	" 4f4f4646 00000000 000004a8"                                          \
	" 52494458 00000000 000004b0"                                          \
	" 42544d50 00000000 000004b4"                                          \
	" 00000000 00000000 000004bc"                                          \
	" 7061636b 2d646530 34313234 30316634 61396535"                        \
	" 66303534 31316634 34656166 39633836 64343630"                        \
	" 39363734 362e6964 78000000"                                          \
	" 00000000 x 206 00000001 x 50"                                        \
	" ce013625 030ba8db a906f756 967f9e9c a394464a"                        \
	" 00000000 0000000c 00000000 00000000 00000001"                        \
	" 33a97e4e cd98830d 9c3b6bdd 3959da36 d2065bf5"

static void test_example(void **state)
{
	struct pack_midx_order order;
	struct pack_midx midx;
	struct buf file = BUF_INIT;
	uint32_t midx_pos;

	hexdump_parse(&file, EXAMPLE);
	assert_int_equal(pack_midx_parse(&midx, file.data, file.len, HASH_SHA1,
					 "midx", NULL),
			 0);
	assert_int_equal(midx.nr, 1);
	assert_true(
		pack_midx_find(&midx, (uint8_t *)file.data + 0x494, &midx_pos));
	assert_int_equal(midx_pos, 0);
	assert_int_equal(pack_midx_pack(&midx, 0), 0);
	assert_int_equal(pack_midx_offset(&midx, 0), 12);
	assert_int_equal(midx.pack_nr, 1);
	assert_string_equal(
		midx.names[0],
		"pack-de0412401f4a9e5f05411f44eaf9c86d46096746.idx");
	assert_int_equal(pack_midx_order_init(&order, &midx, NULL, 0, NULL), 0);
	assert_int_equal(pack_midx_order_pos(&order, 0), 0);
	assert_int_equal(order.spans[0].nr, 1);
	pack_midx_order_release(&order);
	pack_midx_release(&midx);
	buf_release(&file);
}

static int parse(const struct buf *file, size_t len)
{
	struct pack_midx midx;
	int ret = pack_midx_parse(&midx, file->data, len, HASH_SHA1, "midx",
				  NULL);

	pack_midx_release(&midx);
	return ret;
}

/*
 * Cases: each stores `value` at the offset `off` of the example, which makes
 * the file invalid.
 */
static const struct {
	size_t off;
	uint8_t value;
	int ret;
} wrong[] = {
	{0, 'm', ERR_CORRUPT},      {4, 3, ERR_UNSUPPORTED},
	{4, 0, ERR_UNSUPPORTED},    {5, 2, ERR_UNSUPPORTED},
	{6, 5, ERR_CORRUPT},        {7, 1, ERR_UNSUPPORTED},
	{11, 2, ERR_CORRUPT},       {8, 0xff, ERR_CORRUPT},
	{12, 'x', ERR_CORRUPT},     {24, 'x', ERR_CORRUPT},
	{36, 'x', ERR_CORRUPT},     {48, 'x', ERR_CORRUPT},
	{0x64, '/', ERR_CORRUPT},   {0x60, 0, ERR_CORRUPT},
	{0x94 + 3, 2, ERR_CORRUPT}, {0x490, 1, ERR_CORRUPT},
};

static void test_refused(void **state)
{
	struct buf file = BUF_INIT;

	hexdump_parse(&file, EXAMPLE);
	for (size_t i = 0; i < ARRAY_NR(wrong); i++) {
		char was = file.data[wrong[i].off];

		file.data[wrong[i].off] = (char)wrong[i].value;
		assert_int_equal(parse(&file, file.len), wrong[i].ret);
		file.data[wrong[i].off] = was;
	}
	for (size_t len = 0; len < file.len; len++)
		assert_int_equal(parse(&file, len), ERR_CORRUPT);
	assert_int_equal(parse(&file, file.len), 0);
	buf_release(&file);
}

/*
 * In version 1, the names of packs must be sorted. In version 2, they need not
 * be.
 */
static void test_names_out_of_order(void **state)
{
	uint64_t seed = random_seed();
	struct midxfile f;
	const char *p;

	midxfile_init(&f, HASH_SHA1, &seed, false);
	midxfile_write(&f);
	p = f.midx.names[2];
	f.file.data[p - f.file.data + 5] = '9';
	assert_int_equal(parse(&f.file, f.file.len), ERR_CORRUPT);
	f.file.data[4] = 2;
	assert_int_equal(parse(&f.file, f.file.len), 0);
	midxfile_release(&f);
}

/*
 * If a multi-pack-index has no pack order, the order is read from a .rev file.
 */
static void test_rev_file(void **state)
{
	uint64_t seed = random_seed();
	struct pack_midx_order order, from_rev;
	struct buf rev = BUF_INIT;
	uint32_t *table;
	struct midxfile f;

	midxfile_init(&f, HASH_SHA256, &seed, false);
	f.request.with_order = true;
	midxfile_write(&f);
	assert_int_equal(pack_midx_order_init(&order, &f.midx, NULL, 0, NULL),
			 0);
	table = mem_alloc(f.midx.nr, sizeof(*table));
	assert_non_null(table);
	for (uint32_t i = 0; i < f.midx.nr; i++)
		table[i] = pack_midx_order_pos(&order, i);
	assert_int_equal(pack_rev_write(&rev, table, f.midx.nr,
					&f.written.checksum, HASH_SHA256, NULL),
			 0);
	f.midx.order = NULL;
	assert_int_equal(
		pack_midx_order_init(&from_rev, &f.midx, NULL, 0, NULL),
		ERR_MISSING);
	assert_int_equal(pack_midx_order_init(&from_rev, &f.midx, rev.data,
					      rev.len, NULL),
			 0);
	assert_int_equal(from_rev.preferred, order.preferred);
	assert_memory_equal(from_rev.spans, order.spans,
			    MIDXFILE_PACKS * sizeof(*order.spans));
	pack_midx_order_release(&from_rev);
	/*
	 * A .rev file with the checksum of another multi-pack-index is refused.
	 */
	rev.data[rev.len - 40] ^= 1;
	assert_int_equal(pack_midx_order_init(&from_rev, &f.midx, rev.data,
					      rev.len, NULL),
			 ERR_CORRUPT);
	pack_midx_order_release(&order);
	buf_release(&rev);
	free(table);
	midxfile_release(&f);
}

/*
 * A file is refused if its header names another hash function than that of the
 * repository.
 */
static void test_wrong_hash(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct pack_midx m;
	struct midxfile f;

	midxfile_init(&f, HASH_SHA1, &seed, false);
	midxfile_write(&f);
	f.file.data[5] = 2;
	assert_int_equal(pack_midx_parse(&m, f.file.data, f.file.len, f.algo,
					 "midx", &err),
			 ERR_UNSUPPORTED);
	assert_string_equal(err.msg, "multi-pack-index hash version 2 does not "
				     "match version 1");
	midxfile_release(&f);
}

/*
 * If a file has no pack order, reading it leaves an empty order. The empty
 * order may be released.
 */
static void test_no_order(void **state)
{
	uint64_t seed = random_seed();
	struct pack_midx_order order;
	struct midxfile f;

	midxfile_init(&f, HASH_SHA1, &seed, false);
	midxfile_write(&f);
	memset(&order, 0xff, sizeof(order));
	assert_int_equal(pack_midx_order_init_unproven(&order, &f.midx, NULL),
			 1);
	assert_null(order.spans);
	pack_midx_order_release(&order);
	midxfile_release(&f);
}

/*
 * The parser computes a maximum number of packs from the size of the names: at
 * least two bytes for each pack, a letter and a NUL. Names of this minimum size
 * must be accepted.
 */
static void test_short_names(void **state)
{
	uint64_t seed = random_seed();
	struct midxfile f;

	midxfile_init(&f, HASH_SHA1, &seed, false);
	f.sources[0].name = "a";
	f.sources[1].name = "b";
	f.request.pack_nr = 2;
	midxfile_write(&f);
	assert_int_equal(f.midx.pack_nr, 2);
	assert_string_equal(f.midx.names[1], "b");
	midxfile_release(&f);
}

static void test_order_lies(void **state)
{
	uint64_t seed = random_seed();
	struct pack_midx_order order;
	struct midxfile f;
	uint8_t *table;

	midxfile_init(&f, HASH_SHA1, &seed, true);
	f.request.with_order = true;
	midxfile_write(&f);
	table = (uint8_t *)f.file.data + (f.midx.order - f.midx.bytes);
	for (unsigned n = 0; n < 200; n++) {
		uint8_t *a = table + random_next(&seed) % f.midx.nr * 4;
		uint32_t was = load_be32(a);
		uint32_t is = (uint32_t)(random_next(&seed) % (f.midx.nr + 1));

		if (is == was)
			continue;
		store_be32(a, is);
		assert_int_equal(
			pack_midx_order_init(&order, &f.midx, NULL, 0, NULL),
			ERR_CORRUPT);
		store_be32(a, was);
	}
	midxfile_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_names_out_of_order),
		cmocka_unit_test(test_rev_file),
		cmocka_unit_test(test_no_order),
		cmocka_unit_test(test_wrong_hash),
		cmocka_unit_test(test_short_names),
		cmocka_unit_test(test_order_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
