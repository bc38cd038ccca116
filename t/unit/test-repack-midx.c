/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/repack-midx.c, which writes the multi-pack-index of a repack:
 * the index, or the layers of its chain, contain all packs that stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/midxbitmap.h"

static void run(struct randrepo *r, bool all, uint64_t geometric, bool bitmap,
		struct repack_result *result)
{
	struct error err = ERROR_INIT;
	struct repack_options o;

	bitmaprepo_options(&o, &r->t.repo);
	o.all = all;
	o.geometric = geometric;
	o.write_bitmap = bitmap;
	o.write_midx = o.midx_must_contain_cruft = true;
	if (repack_run(result, &r->t.repo, &o, &err) != 0)
		fail_msg("%s", err.msg);
	assert_int_equal(result->warning.code, 0);
}

/*
 * Check that the multi-pack-index has all packs of the repository, and that all
 * packs that it names exist.
 */
static void check_covers(const struct randrepo *r, uint32_t packs)
{
	struct error warning;
	struct odb *odb;

	assert_int_equal(odb_open(&odb, &r->t.repo, &warning, NULL), 0);
	assert_int_equal(warning.code, 0);
	assert_non_null(odb->midxes[0]);
	assert_int_equal(odb->pack_nr, odb->midxes[0]->midx.pack_nr);
	if (packs)
		assert_int_equal(odb->pack_nr, packs);
	odb_close(odb);
}

static void all_into_one(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct bitmaprepo b;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 2);
	run(&r, true, 0, true, &result);
	assert_int_equal(result.midx_pack_nr, 1);
	assert_true(result.bitmap_nr > 0);
	check_covers(&r, 1);
	bitmaprepo_open(&b, &r);
	midxbitmap_check_rows(&b);
	bitmaprepo_close(&b);
	/*
	 * A second repack makes a pack with the same name. This pack must not
	 * be removed as an old one.
	 */
	run(&r, true, 0, true, &result);
	check_covers(&r, 1);
	randrepo_release(&r);
}

static void geometric(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 3);
	for (int i = 0; i < 4; i++) {
		struct bitmaprepo b;
		uint32_t largest = 0;

		run(&r, false, 2, true, &result);
		check_covers(&r, 0);
		bitmaprepo_open(&b, &r);
		midxbitmap_check_rows(&b);
		for (uint32_t k = 1; k < b.odb->pack_nr; k++)
			if (b.odb->packs[k].pack->idx.nr >
			    b.odb->packs[largest].pack->idx.nr)
				largest = k;
		/*
		 * The new pack is preferred. So its objects have the first bit
		 * positions.
		 */
		assert_int_equal(b.pb->order.spans[b.pb->order.preferred].nr,
				 b.odb->packs[largest].pack->idx.nr);
		bitmaprepo_close(&b);
		randrepo_history(&r, 6);
		randrepo_store(&r);
		randrepo_all_refs(&r);
	}
	randrepo_release(&r);
}

/*
 * When a multi-pack-index gets a bitmap index, the bitmap index of a single
 * pack is removed: readers would not use it.
 */
static void pack_bitmaps_go(void **state)
{
	uint64_t seed = random_seed();
	struct repack_result result;
	struct pack_bitmap *pb;
	struct randrepo r;
	struct odb *odb;

	midxbitmap_history(&r, &seed, HASH_SHA1, 1);
	bitmaprepo_repack(&r, true, true);
	randrepo_history(&r, 3);
	randrepo_store(&r);
	randrepo_all_refs(&r);
	for (int bitmap = 0; bitmap < 2; bitmap++) {
		run(&r, false, 0, bitmap, &result);
		check_covers(&r, 2);
		assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
		for (uint32_t i = 0; bitmap && i < odb->pack_nr; i++)
			assert_int_equal(pack_bitmap_open_pack(&pb, odb,
							       &odb->packs[i],
							       NULL),
					 0);
		assert_int_equal(pack_bitmap_open(&pb, odb, NULL), 1);
		assert_int_equal(pb->space.midx != NULL, bitmap);
		pack_bitmap_close(pb);
		odb_close(odb);
	}
	randrepo_release(&r);
}

/* Returns the number of layers of the chain of multi-pack-indexes. */
static uint32_t layers_of(const struct randrepo *r)
{
	struct odb *odb;
	uint32_t nr = 0;

	assert_int_equal(odb_open(&odb, &r->t.repo, NULL, NULL), 0);
	for (const struct odb_midx *m = odb->midxes[0]; m; m = m->base)
		nr++;
	odb_close(odb);
	return nr;
}

static void run_layers(struct randrepo *r, uint64_t split_factor)
{
	struct error err = ERROR_INIT;
	struct repack_result result;
	struct repack_options o;

	bitmaprepo_options(&o, &r->t.repo);
	o.all = false;
	o.geometric = split_factor ? 2 : 0;
	o.write_midx = o.midx_layers = o.midx_must_contain_cruft = true;
	o.midx_split_factor = split_factor;
	o.midx_new_layer_threshold = 1;
	if (repack_run(&result, &r->t.repo, &o, &err) != 0)
		fail_msg("%s", err.msg);
	assert_int_equal(result.warning.code, 0);
}

/*
 * Each repack adds a layer to the chain. A geometric repack merges layers, so
 * that each layer is small in comparison to those below.
 */
static void layers(void **state)
{
	uint64_t seed = random_seed();
	struct bitmaprepo b;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 1);
	for (uint32_t i = 0; i < 3; i++) {
		run_layers(&r, 0);
		assert_int_equal(layers_of(&r), i + 1);
		bitmaprepo_open(&b, &r);
		assert_int_equal(b.pb->base != NULL, i > 0);
		bitmaprepo_close(&b);
		randrepo_history(&r, 5);
		randrepo_store(&r);
		randrepo_all_refs(&r);
	}
	run_layers(&r, 1000);
	assert_int_equal(layers_of(&r), 1);
	bitmaprepo_open(&b, &r);
	midxbitmap_check_rows(&b);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_into_one),
		cmocka_unit_test(geometric),
		cmocka_unit_test(pack_bitmaps_go),
		cmocka_unit_test(layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
