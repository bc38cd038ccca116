/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/verify.c, which verifies bitmaps by walking. They prove that
 * right bitmaps pass, and that the error names a wrong bitmap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/verify.h"
#include "t/unit/bitmaprepo.h"

static void make(struct randrepo *r, uint64_t *seed)
{
	randrepo_init(r, HASH_SHA1, seed);
	randrepo_history(r, 60);
	randrepo_store_pack(r);
	randrepo_all_refs(r);
	bitmaprepo_repack(r, true, true);
}

static int verify(struct bitmaprepo *b, uint32_t row, struct error *err)
{
	return bitmap_verify_row(&b->pb->file, b->pb->space, &b->walk, row,
				 err);
}

static void right_ones(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &seed);
	bitmaprepo_open(&b, &r);
	assert_in_range(b.pb->file.row_nr, 1, r.commit_nr);
	for (uint32_t row = 0; row < b.pb->file.row_nr; row++)
		assert_int_equal(verify(&b, row, NULL), 0);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

static void wrong_ones(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 8; i++) {
		char hex[OID_MAX_HEX_LEN + 1];
		struct error err = ERROR_INIT;
		struct randrepo r;
		struct bitmaprepo b;
		uint32_t nr, wrong;

		make(&r, &seed);
		bitmaprepo_write_wrong(&r, &nr, &wrong);
		bitmaprepo_open(&b, &r);
		assert_int_equal(b.pb->file.row_nr, 1);
		assert_int_equal(bitmaprepo_row(&b, 0), nr);
		assert_int_equal(verify(&b, 0, &err), ERR_CORRUPT);
		oid_to_hex(hex, &r.objects[wrong].oid, HASH_SHA1);
		assert_non_null(strstr(err.msg, hex));
		assert_non_null(strstr(err.msg, ".bitmap"));
		assert_non_null(
			strstr(err.msg,
			       oid_to_hex(hex, &r.objects[nr].oid, HASH_SHA1)));
		memset(b.want, 0, RANDREPO_MAX);
		randrepo_reach(&r, b.want, nr);
		assert_int_equal(strstr(err.msg, "not reachable") != NULL,
				 !b.want[wrong]);
		bitmaprepo_close(&b);
		randrepo_release(&r);
	}
}

/*
 * A sample of the maximum size contains all bitmaps, so the wrong bitmap is
 * found.
 */
static void samples(void **state)
{
	uint64_t seed = random_seed();
	struct bitmap_space space;
	uint32_t nr, wrong;
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &seed);
	bitmaprepo_thin_out(&r, 8, 4, true, true);
	bitmaprepo_open(&b, &r);
	space = b.pb->space;
	for (uint64_t n = 0; n < 5; n++)
		assert_int_equal(bitmap_verify_sample(&b.pb->file, space,
						      &b.walk, n, seed + n,
						      NULL),
				 0);
	assert_int_equal(bitmap_verify_sample(&b.pb->file, space, &b.walk,
					      UINT64_MAX, 0, NULL),
			 0);
	bitmaprepo_close(&b);
	bitmaprepo_write_wrong(&r, &nr, &wrong);
	bitmaprepo_open(&b, &r);
	space = b.pb->space;
	assert_int_equal(bitmap_verify_sample(&b.pb->file, space, &b.walk, 1,
					      seed, NULL),
			 ERR_CORRUPT);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * Calls the tested function for each object of the index. For a commit, the
 * function must succeed and parse the commit. For any other object, it must
 * fail, because only commits have bitmaps. The error names the object and the
 * index.
 */
static void no_commits(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &seed);
	bitmaprepo_open(&b, &r);
	for (uint32_t i = 0; i < b.pb->file.object_nr; i++) {
		const uint8_t *raw = bitmap_space_id(&b.pb->space, i);
		struct error err = ERROR_INIT;
		char hex[OID_MAX_HEX_LEN + 1];
		struct oid oid;
		uint32_t c;
		int ret = bitmap_verify_commit(&c, &b.pb->file, &b.pb->space,
					       &b.walk, i, &err);

		oid_from_raw(&oid, raw, HASH_SHA1);
		if (r.objects[randrepo_find(&r, &oid)].type == OBJ_COMMIT) {
			assert_int_equal(ret, 0);
			assert_true(b.walk.history.commits[c].parsed);
			continue;
		}
		assert_int_equal(ret, ERR_CORRUPT);
		assert_non_null(
			strstr(err.msg, oid_raw_to_hex(hex, raw, HASH_SHA1)));
		assert_non_null(strstr(err.msg, ".bitmap: "));
	}
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * One of many bitmaps is wrong: the first row has the bitmap of the second. A
 * sample of all bitmaps finds the wrong bitmap for any seed, because no bitmap
 * is chosen twice.
 */
static void samples_of_all(void **state)
{
	uint64_t seed = random_seed();
	struct bitmap_row *rows;
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &seed);
	/* Without a lookup table, the rows are in memory and can be changed. */
	bitmaprepo_thin_out(&r, 16, 0, false, true);
	bitmaprepo_open(&b, &r);
	assert_true(b.pb->file.row_nr > 5);
	rows = b.pb->file.rows;
	rows[0].off = rows[1].off;
	rows[0].xor_row = rows[1].xor_row;
	assert_int_equal(verify(&b, 0, NULL), ERR_CORRUPT);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(
			bitmap_verify_sample(&b.pb->file, b.pb->space, &b.walk,
					     b.pb->file.row_nr, seed + i, NULL),
			ERR_CORRUPT);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * bitmap_verify_sample() verifies pseudo-merges as well as bitmaps of commits.
 * The test has one pseudo-merge, of only one commit. The pseudo-merge is wrong:
 * it lacks the objects that this commit reaches. So it must be refused.
 */
static void wrong_pseudo_merge(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct ewah commits, objects;
	const struct bitmap_write_pseudo write = {&commits, &objects};
	struct buf bytes = BUF_INIT;
	struct bitmap_file file;
	struct randrepo r;
	struct bitmaprepo b;
	uint32_t bit = 0;

	make(&r, &seed);
	bitmaprepo_open(&b, &r);
	file = b.pb->file;
	while (!bitmap_file_is_type(&file, BITMAP_COMMITS, bit))
		bit++;
	ewah_init(&commits);
	ewah_init(&objects);
	assert_int_equal(ewah_set(&commits, bit), 0);
	assert_int_equal(pseudo_merges_write(&bytes, 0, &write, 1), 0);
	assert_int_equal(pseudo_merges_parse(&file.pseudo, bytes.data, 0,
					     bytes.len, file.object_nr, "x",
					     NULL),
			 0);
	assert_int_equal(bitmap_verify_sample(&file, b.pb->space, &b.walk,
					      UINT64_MAX, seed, &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "bitmap of pseudo-merge 0: object "));
	ewah_release(&commits);
	ewah_release(&objects);
	buf_release(&bytes);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_ones),
		cmocka_unit_test(wrong_ones),
		cmocka_unit_test(samples),
		cmocka_unit_test(samples_of_all),
		cmocka_unit_test(wrong_pseudo_merge),
		cmocka_unit_test(no_commits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
