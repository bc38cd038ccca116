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
 * Verifying right bitmap indexes succeeds: unchanged indexes, and indexes that
 * have fewer bitmaps, are XORed in another way, or have pseudo-merges.
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
	assert_non_null(
		strstr(err.msg, "the type bitmaps do not say that object"));
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

/*
 * Makes in memory a bitmap index of a pack. Its only row is for the object with
 * the id `raw`, and has an empty bitmap. The caller releases *file and *bytes.
 */
static void make_empty(struct bitmap_file *file, struct buf *bytes,
		       const struct pack *pack, const uint8_t *raw)
{
	struct ewah types[BITMAP_TYPE_NR], none;
	struct bitmap_write_entry entry = {.bitmap = &none};
	const struct bitmap_write write = {
		.algo = HASH_SHA1,
		.object_nr = pack->idx.nr,
		.checksum = pack->checksum,
		.types = types,
		.entries = &entry,
		.entry_nr = 1,
	};

	ewah_init(&none);
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_init(&types[i]);
	assert_true(pack_idx_find(&pack->idx, raw, &entry.idx_pos));
	assert_int_equal(bitmap_file_write(bytes, &write, NULL), 0);
	assert_int_equal(bitmap_file_parse(file, bytes->data, bytes->len,
					   pack->idx.nr, HASH_SHA1, "x.bitmap",
					   NULL),
			 0);
}

/*
 * The index has a bitmap of a commit, but its pack lacks a blob that the commit
 * reaches. This is an error that names the index and the blob.
 */
static void not_closed(void **state)
{
	const uint8_t files[RANDREPO_FILES] = {[9] = 1};
	uint64_t seed = random_seed();
	char hex[OID_MAX_HEX_LEN + 1];
	struct error err = ERROR_INIT;
	struct buf bytes = BUF_INIT;
	const struct pack_rev *rev;
	struct bitmap_file file;
	uint32_t commit, blob;
	struct randrepo r;
	struct walk walk;
	struct odb *odb;

	randrepo_init(&r, HASH_SHA1, &seed);
	commit = randrepo_commit(&r, files, NULL, 0, 1700000000);
	blob = randrepo_blob(&r, files[9]);
	randrepo_store_one(&r, "objects", blob);
	randrepo_store_pack(&r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(walk_open(&walk, odb, NULL, 0, NULL), 0);
	make_empty(&file, &bytes, odb->packs[0].pack,
		   r.objects[commit].oid.bytes);
	rev = pack_get_rev(odb->packs[0].pack, NULL);
	assert_int_equal(bitmap_verify_all(
				 &file,
				 bitmap_space_of_pack(odb, &odb->packs[0], rev),
				 &walk, NULL, &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "x.bitmap: "));
	assert_non_null(strstr(
		err.msg, oid_to_hex(hex, &r.objects[blob].oid, HASH_SHA1)));
	bitmap_file_release(&file);
	buf_release(&bytes);
	walk_close(&walk);
	odb_close(odb);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_ones),  cmocka_unit_test(wrong_ones),
		cmocka_unit_test(wrong_types), cmocka_unit_test(wrong_order),
		cmocka_unit_test(not_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
