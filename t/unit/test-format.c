/* SPDX-License-Identifier: MIT */
/*
 * Tests of reftable/format.c, the header and footer of a reftable. They prove
 * that the example in reftable/block.h is right, and that damaged files are
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reftable/table.h"
#include "t/unit/hexdump.h"

/* The reftable of a new repository, as Git 2.55 writes it. */
static const char example[] =
	"5245465401001000 0000000000000001 0000000000000001 "
	"7200003a 0023484541440011 726566732f68656164732f6d6173746572 "
	"00001c0001 "
	"5245465401001000 0000000000000001 0000000000000001 "
	"0000000000000000 0000000000000000 0000000000000000 "
	"0000000000000000 0000000000000000 b6bff78a";

static void test_example(void **state)
{
	struct reftable_footer f;
	struct reftable *table;
	struct reftable_iter it;
	struct buf dump = BUF_INIT;
	uint8_t *bytes;
	size_t len;

	(void)state;
	hexdump_parse(&dump, example);
	bytes = (uint8_t *)dump.data;
	len = dump.len;
	assert_int_equal(len, 126);
	assert_int_equal(reftable_footer_parse(&f, bytes, len, "a", NULL), 0);
	assert_int_equal(f.version, 1);
	assert_int_equal(f.block_size, 4096);
	assert_true(f.min_index == 1 && f.max_index == 1);
	assert_int_equal(f.algo, HASH_SHA1);
	assert_int_equal(
		reftable_parse(&table, bytes, len, HASH_SHA1, "a", NULL), 0);
	reftable_iter_init(&it);
	assert_int_equal(
		reftable_iter_seek(&it, table, REFTABLE_REFS, "", 0, NULL), 0);
	assert_int_equal(reftable_iter_next(&it, NULL), 1);
	assert_string_equal(it.ref.name, "HEAD");
	assert_int_equal(it.ref.value, REFTABLE_SYMBOLIC);
	assert_int_equal(it.ref.target_len, 17);
	assert_memory_equal(it.ref.target, "refs/heads/master", 17);
	assert_int_equal(reftable_iter_next(&it, NULL), 0);
	reftable_iter_release(&it);
	reftable_close(table);
	buf_release(&dump);
}

/*
 * Changes single bytes of the header and the footer. Each change is noticed,
 * because the footer repeats the header and has a checksum.
 */
static void test_damaged(void **state)
{
	struct reftable_footer f;
	struct buf dump = BUF_INIT;
	uint8_t *bytes;
	size_t len;

	(void)state;
	hexdump_parse(&dump, example);
	bytes = (uint8_t *)dump.data;
	len = dump.len;
	for (size_t i = 0; i < len; i++) {
		if (i >= 24 && i < len - 68)
			continue;
		bytes[i] ^= 1;
		assert_true(reftable_footer_parse(&f, bytes, len, "a", NULL) <
			    0);
		bytes[i] ^= 1;
	}
	for (size_t cut = 0; cut < len; cut++)
		assert_true(reftable_footer_parse(&f, bytes, cut, "a", NULL) <
			    0);
	buf_release(&dump);
}

static void test_round_trip(void **state)
{
	static const struct reftable_footer cases[] = {
		{1, 4096, 1, 2, HASH_SHA1, 0, 0, 0, 0, 0, 0},
		{2, 0, 7, 900, HASH_SHA256, 40, 60, 70, 4, 80, 90},
		{2, 0xffffff, 7, UINT64_MAX, HASH_SHA1, 0, 60, 0, 20, 80, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct reftable_footer *in = &cases[i];
		struct buf out = BUF_INIT;
		struct reftable_footer f;

		assert_int_equal(reftable_header_append(&out, in), 0);
		assert_int_equal(out.len, reftable_header_len(in->version));
		while (out.len < 100)
			buf_append_char(&out, 'x');
		assert_int_equal(reftable_footer_append(&out, in), 0);
		assert_int_equal(out.len,
				 100 + reftable_footer_len(in->version));
		assert_int_equal(
			reftable_footer_parse(&f, out.data, out.len, "a", NULL),
			0);
		assert_int_equal(f.algo, in->algo);
		assert_int_equal(f.block_size, in->block_size);
		assert_true(f.min_index == in->min_index &&
			    f.max_index == in->max_index);
		assert_true(f.ref_index_off == in->ref_index_off &&
			    f.obj_off == in->obj_off &&
			    f.obj_index_off == in->obj_index_off &&
			    f.obj_id_len == in->obj_id_len &&
			    f.log_off == in->log_off &&
			    f.log_index_off == in->log_index_off);
		buf_release(&out);
	}
}

/* Each case has one invalid offset of a section among valid ones. */
static void test_sections(void **state)
{
	static const struct reftable_footer bad[] = {
		{1, 0, 2, 1, HASH_SHA1, 0, 0, 0, 0, 0, 0},
		{1, 0, 1, 1, HASH_SHA1, 20, 0, 0, 0, 0, 0},
		{1, 0, 1, 1, HASH_SHA1, 100, 0, 0, 0, 0, 0},
		{1, 0, 1, 1, HASH_SHA1, 50, 40, 0, 2, 0, 0},
		{1, 0, 1, 1, HASH_SHA1, 0, 40, 0, 1, 0, 0},
		{1, 0, 1, 1, HASH_SHA1, 0, 40, 0, 21, 0, 0},
		{1, 0, 1, 1, HASH_SHA1, 0, 0, 0, 0, 50, 50},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct buf out = BUF_INIT;
		struct reftable_footer f;

		reftable_header_append(&out, &bad[i]);
		while (out.len < 100)
			buf_append_char(&out, 'x');
		reftable_footer_append(&out, &bad[i]);
		assert_int_equal(
			reftable_footer_parse(&f, out.data, out.len, "a", NULL),
			ERR_CORRUPT);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
