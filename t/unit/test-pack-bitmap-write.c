/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack-bitmap-write.c, which writes the bitmap index of a pack. Its
 * bitmaps are verified.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "t/unit/midxbitmap.h"

static void check_repository(struct randrepo *r)
{
	struct bitset set, scratch = BITSET_INIT;
	struct bitmaprepo b;

	bitmaprepo_open(&b, r);
	assert_true(b.pb->file.row_nr > 0);
	for (uint32_t row = 0; row < b.pb->file.row_nr; row++) {
		assert_int_equal(bitset_init(&set, b.pb->file.object_nr), 0);
		assert_int_equal(
			bitmap_file_or(&set, &b.pb->file, row, &scratch, NULL),
			0);
		memset(b.want, 0, RANDREPO_MAX);
		randrepo_reach(r, b.want, bitmaprepo_row(&b, row));
		for (uint32_t bit = 0; bit < set.bits; bit++)
			assert_int_equal(bitset_test(&set, bit),
					 b.want[bitmaprepo_at(&b, bit)]);
		bitset_release(&set);
	}
	bitset_release(&scratch);
	bitmaprepo_close(&b);
}

/*
 * Adds commits and writes a new bitmap index, several times. Each index reuses
 * bitmaps of the previous one. All bitmaps must be right.
 */
static void every_bitmap(void **state)
{
	static const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};
	uint64_t seed = random_seed();

	for (size_t i = 0; i < ARRAY_NR(algos); i++) {
		struct randrepo r;

		randrepo_init(&r, algos[i], &seed);
		for (int k = 0; k < 3; k++) {
			randrepo_history(&r, 70);
			randrepo_store_pack(&r);
			randrepo_all_refs(&r);
			bitmaprepo_repack(&r, true, true);
			check_repository(&r);
		}
		randrepo_release(&r);
	}
}

static void layouts(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 30);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	for (int i = 0; i < 4; i++) {
		struct repack_options options;
		struct repack_result result;
		struct bitmaprepo b;

		bitmaprepo_options(&options, &r.t.repo);
		options.newpack.lookup_table = i & 1;
		options.newpack.hash_cache = i & 2;
		assert_int_equal(repack_run(&result, &r.t.repo, &options, NULL),
				 0);
		bitmaprepo_open(&b, &r);
		assert_int_equal(b.pb->file.lookup != NULL, i & 1);
		assert_int_equal(b.pb->file.hash_cache != NULL, (i & 2) != 0);
		assert_int_equal(result.bitmap_nr, b.pb->file.row_nr);
		assert_int_equal(result.bitmap_len, b.pb->map.len);
		bitmaprepo_close(&b);
		check_repository(&r);
	}
	randrepo_release(&r);
}

/*
 * Writes the bitmap index. `budget`: limit for its length in bytes. Returns the
 * length. Sets *rows to the number of bitmaps.
 */
static size_t with_budget(struct randrepo *r, uint64_t budget, uint32_t *rows)
{
	struct repack_options options;
	struct repack_result result;
	struct bitmaprepo b;
	size_t len;

	bitmaprepo_options(&options, &r->t.repo);
	options.newpack.hash_cache = true;
	options.newpack.bitmap_budget = budget;
	assert_int_equal(repack_run(&result, &r->t.repo, &options, NULL), 0);
	bitmaprepo_open(&b, r);
	*rows = b.pb->file.row_nr;
	len = b.pb->map.len;
	bitmaprepo_close(&b);
	check_repository(r);
	return len;
}

/*
 * The bitmap index must not be larger than the budget. A larger budget must not
 * give fewer bitmaps.
 */
static void budget(void **state)
{
	uint64_t seed = random_seed();
	uint32_t rows, all, before = 0;
	struct randrepo r;
	size_t len, most;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 120);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	most = with_budget(&r, 1 << 30, &all);
	for (size_t budget = most / 2; budget <= 2 * most; budget *= 2) {
		len = with_budget(&r, budget, &rows);
		assert_true(len <= budget);
		assert_true(rows >= before && rows <= all);
		before = rows;
	}
	assert_int_equal(before, all);
	/*
	 * Even if the budget (the limit for the index in bytes) is too small
	 * for any bitmap, the index has some bitmaps.
	 */
	with_budget(&r, 1, &rows);
	assert_true(rows > 0);
	randrepo_release(&r);
}

/*
 * Writes a multi-pack-index with a bitmap index. `budget`: limit for the length
 * of the bitmap index in bytes. Returns this length.
 */
static size_t midx_with_budget(const struct randrepo *r, uint64_t budget)
{
	struct multi_pack_result result;
	struct newpack_options newpack;
	struct multi_pack_options o = {.bitmap = &newpack};
	struct bitmaprepo b;
	struct refs *refs;
	struct odb *odb;
	size_t len;

	assert_int_equal(newpack_options_load(&newpack, &r->t.repo, NULL), 0);
	newpack.hash_cache = false;
	newpack.bitmap_budget = budget;
	assert_int_equal(refs_open(&refs, &r->t.repo, NULL), 0);
	assert_int_equal(odb_open(&odb, &r->t.repo, NULL, NULL), 0);
	o.refs = refs;
	assert_int_equal(multi_pack_write(&result, odb, &o, NULL), 0);
	odb_close(odb);
	refs_close(refs);
	bitmaprepo_open(&b, r);
	assert_non_null(b.pb->space.midx);
	len = b.pb->map.len;
	bitmaprepo_close(&b);
	tmprepo_remove(&r->t, "objects/pack/multi-pack-index");
	return len;
}

/*
 * Commits, trees and blobs alternate in the pack, and a bitmap index over a
 * multi-pack-index keeps this order. So the four type bitmaps are large, and
 * count for the budget (the limit of bytes).
 */
static void budget_with_large_types(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	size_t least;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 300);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	/*
	 * Even with the smallest budget (limit of bytes), some bitmaps are
	 * written.
	 */
	least = midx_with_budget(&r, 1);
	for (size_t budget = 2 * least; budget < 4 * least; budget += least / 2)
		assert_true(midx_with_budget(&r, budget) <= budget);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bitmap),
		cmocka_unit_test(layouts),
		cmocka_unit_test(budget),
		cmocka_unit_test(budget_with_large_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
