/* SPDX-License-Identifier: MIT */
/*
 * Tests of prepared/kept-deltas.c: a file of kept deltas (deltas stored beside
 * a pack) can be written and read, and damage is noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/bytes.h"
#include "object/hash.h"
#include "prepared/kept-deltas.h"
#include "t/unit/hexdump.h"
#include "t/unit/random.h"

#define ROWS 90

struct file {
	struct kept_delta rows[ROWS];
	uint8_t streams[ROWS * 64];
	struct buf bytes;
};

/*
 * Make a file of kept deltas (stored beside the pack). The first four bytes of
 * each target's id are an even number, so ids with odd numbers are missing.
 * Each target has three kept deltas: against the versions 1, 2 and 4 steps
 * before.
 */
static void file_init(struct file *f, enum hash_algo algo, uint64_t *seed)
{
	memset(f, 0, sizeof(*f));
	for (size_t i = 0; i < sizeof(f->streams); i++)
		f->streams[i] = (uint8_t)random_next(seed);
	for (uint32_t i = 0; i < ROWS; i++) {
		struct kept_delta *row = &f->rows[i];

		store_be32(row->target.bytes, i / 3 * 2);
		store_be32(row->base.bytes, 1000 + i);
		row->step = UINT32_C(1) << i % 3;
		row->size = 100 + i;
		row->stream = f->streams + 64 * i;
		row->len = (uint32_t)(random_next(seed) % 65);
	}
	assert_int_equal(kept_deltas_write(&f->bytes, algo, f->rows, ROWS), 0);
}

static void there_and_back(void **state)
{
	const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};
	uint64_t seed = random_seed();

	for (size_t n = 0; n < 2; n++) {
		struct kept_deltas k;
		struct file f;
		uint32_t at;

		file_init(&f, algos[n], &seed);
		assert_int_equal(kept_deltas_parse(&k, f.bytes.data,
						   f.bytes.len, algos[n],
						   "file", NULL),
				 0);
		assert_int_equal(k.nr, ROWS);
		assert_int_equal(kept_deltas_check(&k, NULL), 0);
		for (uint32_t i = 0; i <= 2 * ROWS / 3; i++) {
			struct oid target = OID_ZERO_INIT;
			bool there = i % 2 == 0 && i < 2 * ROWS / 3;

			store_be32(target.bytes, i);
			assert_int_equal(
				kept_deltas_find(&k, target.bytes, &at), there);
			assert_true(!there || at == i / 2 * 3);
		}
		for (uint32_t i = 0; i < ROWS; i++) {
			const struct kept_delta *made = &f.rows[i];
			struct kept_delta row;

			assert_int_equal(kept_deltas_get(&row, &k, i, NULL), 0);
			assert_true(oid_equal(&row.target, &made->target));
			assert_true(oid_equal(&row.base, &made->base));
			assert_int_equal(row.step, made->step);
			assert_int_equal(row.size, made->size);
			assert_int_equal(row.len, made->len);
			assert_memory_equal(row.stream, made->stream, row.len);
		}
		kept_deltas_close(&k);
		buf_release(&f.bytes);
	}
}

/*
 * In a file of kept deltas, the rows of one object (the target) are adjacent. A
 * row without a base is a whole copy of its target. kept_deltas_get_copy()
 * looks only at the first row of a target. Row 30 is the first row of its
 * target, so its copy is found. Row 34 comes after another row of the same
 * target, so its copy is not found.
 */
static void copies(void **state)
{
	const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};
	uint64_t seed = random_seed();

	for (size_t n = 0; n < 2; n++) {
		const struct oid none = OID_ZERO_INIT;
		struct kept_deltas k;
		struct kept_delta row;
		struct file f;
		uint32_t at;

		file_init(&f, algos[n], &seed);
		f.rows[30].base = f.rows[34].base = none;
		f.rows[30].step = 0;
		f.bytes.len = 0;
		assert_int_equal(
			kept_deltas_write(&f.bytes, algos[n], f.rows, ROWS), 0);
		assert_int_equal(kept_deltas_parse(&k, f.bytes.data,
						   f.bytes.len, algos[n],
						   "file", NULL),
				 0);
		for (uint32_t i = 0; i < ROWS; i++)
			assert_int_equal(kept_deltas_row_is_copy(&k, i),
					 i == 30 || i == 34);
		for (uint32_t i = 0; i < ROWS; i += 3)
			assert_int_equal(
				kept_deltas_get_copy(&row, &k,
						     f.rows[i].target.bytes,
						     &at, NULL),
				i == 30);
		assert_int_equal(kept_deltas_get_copy(&row, &k,
						      f.rows[30].target.bytes,
						      &at, NULL),
				 1);
		assert_int_equal(at, 30);
		assert_true(kept_delta_is_copy(&row));
		assert_int_equal(row.size, f.rows[30].size);
		f.bytes.data[row.stream - k.bytes] ^= row.len ? 1 : 0;
		assert_int_equal(kept_deltas_get_copy(&row, &k,
						      f.rows[30].target.bytes,
						      &at, NULL),
				 f.rows[30].len ? ERR_CORRUPT : 1);
		kept_deltas_close(&k);
		buf_release(&f.bytes);
	}
}

/* In a file without rows, no target is found. */
static void no_rows(void **state)
{
	struct oid oid = OID_ZERO_INIT;
	struct buf bytes = BUF_INIT;
	struct kept_deltas k;
	uint32_t at;

	assert_int_equal(kept_deltas_write(&bytes, HASH_SHA1, NULL, 0), 0);
	assert_int_equal(kept_deltas_parse(&k, bytes.data, bytes.len, HASH_SHA1,
					   "file", NULL),
			 0);
	assert_int_equal(kept_deltas_check(&k, NULL), 0);
	assert_false(kept_deltas_find(&k, oid.bytes, &at));
	kept_deltas_close(&k);
	buf_release(&bytes);
}

/* Parse the example of Documentation/format/deltas.md. */
static void worked_example(void **state)
{
	static const char example[] =
		"4b455054 01 01 0000 00000001 00000000 0000007d"
		" 4b5fa637 02dd9679 6042e927 87f464e2 8f09f17d"
		" ce013625 030ba8db a906f756 967f9e9c a394464a"
		" 00000000 00000054 00000004 0000000d 00000015 da445b36"
		" 789c63e3 9dc0caa1 a3509e5f 9493c205 0012b403 2f"
		" 63c0fafa 2244feab c933b237 22da31db ae799436";
	struct buf bytes = BUF_INIT, again = BUF_INIT;
	struct kept_deltas k;
	struct kept_delta row;

	hexdump_parse(&bytes, example);
	assert_int_equal(kept_deltas_parse(&k, bytes.data, bytes.len, HASH_SHA1,
					   "example", NULL),
			 0);
	assert_int_equal(kept_deltas_check(&k, NULL), 0);
	assert_int_equal(k.nr, 1);
	assert_int_equal(kept_deltas_get(&row, &k, 0, NULL), 0);
	assert_int_equal(row.step, 4);
	assert_int_equal(row.size, 13);
	assert_int_equal(row.len, 21);
	assert_int_equal(kept_deltas_write(&again, HASH_SHA1, &row, 1), 0);
	assert_int_equal(again.len, bytes.len);
	assert_memory_equal(again.data, bytes.data, bytes.len);
	kept_deltas_close(&k);
	buf_release(&bytes);
	buf_release(&again);
}

/*
 * Replaces the checksum by the right one, and reads the file. Returns 0 or the
 * first error: of parsing the file, of reading a row, or of
 * kept_deltas_check().
 */
static int use(struct file *f, struct error *err)
{
	struct kept_deltas k;
	struct kept_delta row;
	size_t start = 0;
	int ret;

	buf_set_len(&f->bytes, f->bytes.len - hash_len(HASH_SHA1));
	assert_int_equal(hash_append_trailer(&f->bytes, start, HASH_SHA1, NULL),
			 0);
	ret = kept_deltas_parse(&k, f->bytes.data, f->bytes.len, HASH_SHA1,
				"file", err);
	if (ret < 0)
		return ret;
	for (uint32_t i = 0; i < k.nr && !ret; i++)
		ret = kept_deltas_get(&row, &k, i, err);
	if (ret < 0)
		assert_int_equal(kept_deltas_check(&k, NULL), ERR_CORRUPT);
	else
		ret = kept_deltas_check(&k, err);
	kept_deltas_close(&k);
	return ret;
}

/*
 * In a file of kept deltas, a changed byte in the header or in the rows is
 * noticed, even without verifying the checksum.
 */
static void damaged(void **state)
{
	uint64_t seed = random_seed();
	struct file f;

	file_init(&f, HASH_SHA1, &seed);
	assert_int_equal(use(&f, NULL), 0);
	for (size_t i = 0; i < f.bytes.len - hash_len(HASH_SHA1); i++) {
		f.bytes.data[i] ^= 1;
		assert_int_equal(use(&f, NULL),
				 i == 4 ? ERR_UNSUPPORTED : ERR_CORRUPT);
		f.bytes.data[i] ^= 1;
	}
	buf_release(&f.bytes);
}

/*
 * A file of kept deltas (stored beside a pack) is truncated. Opening it must
 * fail, at whatever byte it ends.
 */
static void truncated(void **state)
{
	uint64_t seed = random_seed();
	struct kept_deltas k;
	struct file f;

	file_init(&f, HASH_SHA1, &seed);
	for (size_t len = 0; len < f.bytes.len; len += 3)
		assert_int_equal(kept_deltas_parse(&k, f.bytes.data, len,
						   HASH_SHA1, "file", NULL),
				 ERR_CORRUPT);
	buf_release(&f.bytes);
}

/* When a check fails, the error message names the problem. */
static void refused(void **state)
{
	struct error err = ERROR_INIT;
	uint64_t seed = random_seed();
	struct kept_delta swapped;
	struct file f;

	file_init(&f, HASH_SHA1, &seed);
	f.bytes.len = 0;
	swapped = f.rows[10];
	f.rows[10] = f.rows[11];
	f.rows[11] = swapped;
	assert_int_equal(kept_deltas_write(&f.bytes, HASH_SHA1, f.rows, ROWS),
			 0);
	assert_int_equal(use(&f, &err), ERR_CORRUPT);
	assert_string_equal(err.msg, "file: rows are not in order");
	f.bytes.len = 0;
	f.rows[11].step = f.rows[10].step;
	assert_int_equal(kept_deltas_write(&f.bytes, HASH_SHA1, f.rows, ROWS),
			 0);
	assert_int_equal(use(&f, NULL), 0);
	buf_release(&f.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(copies),
		cmocka_unit_test(no_rows),
		cmocka_unit_test(worked_example),
		cmocka_unit_test(damaged),
		cmocka_unit_test(truncated),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
