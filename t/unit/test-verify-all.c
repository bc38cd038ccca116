/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/verify-all.c, which verifies all bitmaps of an index: right
 * bitmaps pass, and the error names a wrong bitmap.
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

static int verify(const struct randrepo *r, struct error *err)
{
	struct bitmap_space space;
	struct bitmaprepo b;
	int ret;

	bitmaprepo_open(&b, r);
	space = b.pb->space;
	ret = bitmap_verify_types(&b.pb->file, space, err);
	if (!ret)
		ret = bitmap_verify_all(&b.pb->file, space, &b.walk, NULL, err);
	bitmaprepo_close(&b);
	return ret;
}

/*
 * Right bitmap indexes pass: unchanged indexes, and indexes with fewer bitmaps,
 * other XORs, or pseudo-merges.
 */
static void right_ones(void **state)
{
	uint64_t seed = random_seed();

	for (unsigned i = 0; i < 6; i++) {
		struct error err = ERROR_INIT;
		struct randrepo r;

		make(&r, &seed);
		if (i)
			bitmaprepo_thin_out(&r, 3 * i, i, i & 1, i & 2);
		if (verify(&r, &err) < 0)
			fail_msg("%s", err.msg);
		randrepo_release(&r);
	}
}

static void wrong_ones(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 6; i++) {
		char hex[OID_MAX_HEX_LEN + 1];
		struct error err = ERROR_INIT;
		uint32_t nr, wrong;
		struct randrepo r;

		make(&r, &seed);
		bitmaprepo_write_wrong(&r, &nr, &wrong);
		assert_int_equal(verify(&r, &err), ERR_CORRUPT);
		assert_non_null(strstr(err.msg, ".bitmap: bitmap of commit "));
		assert_non_null(
			strstr(err.msg,
			       oid_to_hex(hex, &r.objects[nr].oid, HASH_SHA1)));
		assert_non_null(
			strstr(err.msg, oid_to_hex(hex, &r.objects[wrong].oid,
						   HASH_SHA1)));
		randrepo_release(&r);
	}
}

/* Two type bitmaps are swapped, which is an error. */
static void wrong_types(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct bitmap_space space;
	struct bitmap_file file;
	struct bitmaprepo b;
	struct randrepo r;

	make(&r, &seed);
	bitmaprepo_open(&b, &r);
	space = b.pb->space;
	file = b.pb->file;
	file.types[BITMAP_TREES] = b.pb->file.types[BITMAP_BLOBS];
	file.types[BITMAP_BLOBS] = b.pb->file.types[BITMAP_TREES];
	assert_int_equal(bitmap_verify_types(&file, space, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "type bitmaps are wrong about object"));
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/* The bitmaps are not in the order of their commits. This is an error. */
static void wrong_order(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct bitmap_file *file;
	struct bitmaprepo b;
	struct randrepo r;

	make(&r, &seed);
	/*
	 * Write the index without a lookup table, so that the test can exchange
	 * bitmaps.
	 */
	bitmaprepo_thin_out(&r, 16, 0, false, false);
	bitmaprepo_open(&b, &r);
	file = &b.pb->file;
	assert_true(file->row_nr > 5);
	file->rows[5] = file->rows[4];
	assert_int_equal(
		bitmap_verify_all(file, b.pb->space, &b.walk, NULL, &err),
		ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "out of order at row 5"));
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_ones),
		cmocka_unit_test(wrong_ones),
		cmocka_unit_test(wrong_types),
		cmocka_unit_test(wrong_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
