/* SPDX-License-Identifier: MIT */
/*
 * Tests of midx/multi-pack-layer.c, which makes the bitmap indexes of new and
 * of merged layers. Queries by these bitmaps must give the same results as
 * walks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/midxlayers.h"

enum { LAYERS = 5 };

static void refuse(void *ctx, const char *line)
{
	fail_msg("%s", line);
}

/* Check all bitmaps, and compare queries with walks. */
static void check(struct randrepo *r, uint64_t *seed, size_t layer_nr)
{
	const struct pack_bitmap_verify how = {0};
	uint32_t used = 0, pseudo = 0;
	struct bitmaprepo b;

	bitmaprepo_open(&b, r);
	assert_int_equal(odb_midx_layer_nr(b.pb->space.midx), layer_nr);
	assert_int_equal(
		multi_pack_verify(b.pb->odb, 0, refuse, NULL, NULL, NULL), 0);
	midxbitmap_check_rows(&b);
	for (int i = 0; i < 20; i++)
		bitmaprepo_query(&b, seed, &used, &pseudo);
	assert_true(used > 0);
	assert_int_equal(pack_bitmap_verify(b.pb, &b.walk, &how, NULL), 0);
	bitmaprepo_close(&b);
}

static void layers_are_right(enum hash_algo algo)
{
	uint64_t seed = random_seed();
	struct randrepo r;

	midxlayers_history(&r, &seed, algo, LAYERS, true);
	check(&r, &seed, LAYERS);
	/*
	 * After layers of the chain were merged, the bitmaps of the layers
	 * above must still be right.
	 */
	midxlayers_compact(&r, 1, 2, true);
	check(&r, &seed, LAYERS - 1);
	midxlayers_compact(&r, 0, 1, true);
	check(&r, &seed, LAYERS - 2);
	midxlayers_compact(&r, 0, 2, true);
	check(&r, &seed, 1);
	randrepo_release(&r);
}

static void right_with_sha1(void **state)
{
	layers_are_right(HASH_SHA1);
}

static void right_with_sha256(void **state)
{
	layers_are_right(HASH_SHA256);
}

/*
 * The upper layers of the chain have no bitmap index, so queries find the
 * objects of these layers by walking.
 */
static void upper_layers_without(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;

	midxlayers_history(&r, &seed, HASH_SHA1, 2, true);
	randrepo_history(&r, 6);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	assert_int_equal(midxlayers_append(&r, false), 0);
	assert_int_equal(midxlayers_nr(&r), 3);
	check(&r, &seed, 2);
	/*
	 * A new layer of the chain with a bitmap index replaces layers that
	 * have none.
	 */
	randrepo_history(&r, 6);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	assert_int_equal(midxlayers_append(&r, true), 0);
	assert_int_equal(midxlayers_nr(&r), 3);
	check(&r, &seed, 3);
	randrepo_release(&r);
}

/*
 * Layers without bitmap indexes can be merged into one layer of the chain that
 * has one.
 */
static void compacted_without(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;

	midxlayers_history(&r, &seed, HASH_SHA1, 3, false);
	midxlayers_compact(&r, 0, 1, true);
	check(&r, &seed, 1);
	assert_int_equal(midxlayers_nr(&r), 2);
	midxlayers_compact(&r, 0, 1, true);
	check(&r, &seed, 1);
	assert_int_equal(midxlayers_nr(&r), 1);
	randrepo_release(&r);
}

/*
 * When a single multi-pack-index replaces the chain, its bitmap index gets the
 * converted bitmaps of the chain.
 */
static void one_file_again(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;

	midxlayers_history(&r, &seed, HASH_SHA1, 3, true);
	midxbitmap_write(&r);
	check(&r, &seed, 1);
	randrepo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_with_sha1),
		cmocka_unit_test(right_with_sha256),
		cmocka_unit_test(upper_layers_without),
		cmocka_unit_test(compacted_without),
		cmocka_unit_test(one_file_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
