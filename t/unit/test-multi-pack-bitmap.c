/* SPDX-License-Identifier: MIT */
/*
 * Tests of midx/multi-pack-bitmap.c: the bitmap index of a multi-pack-index.
 * Query results are compared with expected objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/midxbitmap.h"

static void bitmaps_are_right(enum hash_algo algo)
{
	uint64_t seed = random_seed();
	uint32_t used = 0, pseudo = 0;
	struct bitmaprepo b;
	struct randrepo r;

	midxbitmap_history(&r, &seed, algo, 3);
	midxbitmap_write(&r);
	bitmaprepo_open(&b, &r);
	assert_int_equal(b.pb->space.midx->midx.pack_nr, 4);
	midxbitmap_check_rows(&b);
	for (int i = 0; i < 60; i++)
		bitmaprepo_query(&b, &seed, &used, &pseudo);
	assert_true(used > 0);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

static void right_with_sha1(void **state)
{
	bitmaps_are_right(HASH_SHA1);
}

static void right_with_sha256(void **state)
{
	bitmaps_are_right(HASH_SHA256);
}

/*
 * Queries also find objects that are newer than the bitmap index: loose
 * objects, and objects of another pack.
 */
static void later_objects(void **state)
{
	uint64_t seed = random_seed();
	uint32_t used = 0, pseudo = 0;
	struct bitmaprepo b;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 2);
	midxbitmap_write(&r);
	randrepo_history(&r, 6);
	randrepo_store(&r);
	randrepo_history(&r, 6);
	randrepo_store_pack(&r);
	bitmaprepo_open(&b, &r);
	for (int i = 0; i < 60; i++)
		bitmaprepo_query(&b, &seed, &used, &pseudo);
	assert_true(used > 0);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * The tips are loose objects. The bitmap index has neither these tips nor the
 * objects that only these tips reach. It must be written nevertheless.
 */
static void loose_tips(void **state)
{
	uint64_t seed = random_seed();
	struct multi_pack_result result;
	uint32_t used = 0, pseudo = 0;
	struct bitmaprepo b;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 2);
	randrepo_history(&r, 5);
	randrepo_store(&r);
	randrepo_all_refs(&r);
	assert_int_equal(midxbitmap_write_but(&r, NULL, &result, NULL), 0);
	bitmaprepo_open(&b, &r);
	for (int i = 0; i < 40; i++)
		bitmaprepo_query(&b, &seed, &used, &pseudo);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * A pack with reachable objects is not in the multi-pack-index. So writing the
 * bitmap index fails, and no file is written.
 */
static void not_closed(void **state)
{
	uint64_t seed = random_seed();
	struct strlist but = STRLIST_INIT;
	struct multi_pack_result result;
	struct error err = ERROR_INIT;
	struct pack_bitmap *pb;
	struct randrepo r;
	struct odb *odb;

	midxbitmap_history(&r, &seed, HASH_SHA1, 2);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (odb->packs[i].pack->idx.nr > 100)
			pack_names_add(&but, odb->packs[i].pack->name);
	odb_close(odb);
	assert_int_equal(but.nr, 1);
	assert_int_equal(midxbitmap_write_but(&r, &but, &result, &err),
			 ERR_MISSING);
	assert_true(result.not_closed);
	assert_non_null(strstr(err.msg, "reachable but not in the pack"));
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_null(odb->midxes[0]);
	assert_int_equal(pack_bitmap_open(&pb, odb, NULL), 0);
	odb_close(odb);
	strlist_release(&but);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_with_sha1),
		cmocka_unit_test(right_with_sha256),
		cmocka_unit_test(later_objects),
		cmocka_unit_test(loose_tips),
		cmocka_unit_test(not_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
