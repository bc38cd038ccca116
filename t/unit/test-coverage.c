/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/coverage.c, which measures how many commits fetches walk
 * before they reach bitmaps. They prove that the numbers equal those of real
 * queries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/fill.h"
#include "t/unit/bitmaprepo.h"

/*
 * Runs a query that wants `nr` commits and has no haves. Returns the number of
 * commits that the query walks.
 */
static uint32_t walked(struct bitmaprepo *b, uint32_t *commits, size_t nr)
{
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct walk_tips wants = {.commits = commits, .commit_nr = nr};
	struct walk_tips none = WALK_TIPS_INIT;
	uint32_t found;

	assert_int_equal(pack_bitmap_query(&result, b->pb, &b->walk, &wants,
					   &none, NULL, NULL),
			 0);
	found = result.commits_walked;
	pack_bitmap_result_release(&result);
	return found;
}

/*
 * Compares the measured numbers with those of queries: one query for each tip,
 * and one for all tips.
 */
static void check(struct bitmaprepo *b, const struct bitmap_coverage *c,
		  struct walk_tips *tips)
{
	uint32_t nr = 0, with_bitmap = 0, max = 0, below = 0, above = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < tips->commit_nr; i++) {
		bool is_new = true;
		uint32_t one;

		for (size_t k = 0; k < i; k++)
			is_new &= tips->commits[k] != tips->commits[i];
		if (!is_new)
			continue;
		one = walked(b, &tips->commits[i], 1);
		nr++;
		sum += one;
		with_bitmap += !one;
		max = one > max ? one : max;
		below += one < c->walked_median;
		above += one > c->walked_median;
	}
	assert_int_equal(c->tip_nr, nr);
	assert_int_equal(c->walked_sum, sum);
	assert_int_equal(c->with_bitmap, with_bitmap);
	assert_int_equal(c->walked_max, max);
	assert_true(below <= nr / 2 && above <= nr / 2);
	assert_int_equal(c->walked_together,
			 nr ? walked(b, tips->commits, tips->commit_nr) : 0);
}

static void random_tips(void **state)
{
	uint64_t seed = random_seed();
	struct bitmap_coverage coverage;
	struct randrepo r;
	struct bitmaprepo b;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 80);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	bitmaprepo_thin_out(&r, 4, 4, true, true);
	bitmaprepo_open(&b, &r);
	for (int i = 0; i < 20; i++) {
		struct walk_tips tips = WALK_TIPS_INIT;
		struct bitmap_fill fill;

		bitmaprepo_tips(&b, &seed, &tips, b.want, i ? 30 : 0);
		assert_int_equal(bitmap_fill_init(&fill, &b.pb->file,
						  b.pb->space, &b.walk, NULL),
				 0);
		assert_int_equal(
			bitmap_coverage_measure(&coverage, &fill, &tips, NULL),
			0);
		check(&b, &coverage, &tips);
		bitmap_fill_release(&fill);
		walk_tips_release(&tips);
	}
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_tips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
