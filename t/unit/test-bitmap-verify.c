/* SPDX-License-Identifier: MIT */
/* bitmap/verify.c: right bitmaps pass, wrong ones are named. */
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
	return bitmap_verify_row(&b->pb->file,
				 bitmap_space_of(b->pb->pack, b->pb->rev),
				 &b->walk, row, err);
}

static void right_ones(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &seed);
	bitmaprepo_open(&b, &r);
	assert_int_equal(b.pb->file.row_nr, r.commit_nr);
	for (uint32_t row = 0; row < b.pb->file.row_nr; row++)
		assert_int_equal(verify(&b, row, NULL), 0);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/* Write an index with one bitmap, of which one bit is wrong. */
static void write_wrong(struct randrepo *r, uint32_t *nr, uint32_t *wrong)
{
	struct bitset set, scratch = BITSET_INIT;
	struct ewah types[BITMAP_TYPE_NR], bitmap;
	struct bitmap_write_entry entry = {.bitmap = &bitmap};
	struct bitmap_write write = {.entries = &entry, .entry_nr = 1};
	struct buf out = BUF_INIT;
	struct bitmaprepo b;
	uint32_t row, bit;

	bitmaprepo_open(&b, r);
	row = randrepo_below(r, b.pb->file.row_nr);
	bit = randrepo_below(r, b.pb->file.object_nr);
	*nr = bitmaprepo_row(&b, row);
	*wrong = bitmaprepo_at(&b, bit);
	assert_int_equal(bitset_init(&set, b.pb->file.object_nr), 0);
	assert_int_equal(bitmap_file_or(&set, &b.pb->file, row, &scratch, NULL),
			 0);
	set.words[bit / 64] ^= UINT64_C(1) << (bit % 64);
	ewah_init(&bitmap);
	assert_int_equal(ewah_from_bitset(&bitmap, &set), 0);
	bitmaprepo_types(&b, types);
	entry.idx_pos = bitmap_file_row(&b.pb->file, row).idx_pos;
	write.algo = HASH_SHA1;
	write.object_nr = b.pb->file.object_nr;
	write.checksum = b.pb->pack->pack->checksum;
	write.types = types;
	assert_int_equal(bitmap_file_write(&out, &write, NULL), 0);
	tmprepo_write_len(&r->t, b.pb->path + strlen(r->t.dir) + 1, out.data,
			  out.len);
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_release(&types[i]);
	ewah_release(&bitmap);
	bitset_release(&set);
	bitset_release(&scratch);
	buf_release(&out);
	bitmaprepo_close(&b);
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
		write_wrong(&r, &nr, &wrong);
		bitmaprepo_open(&b, &r);
		assert_int_equal(b.pb->file.row_nr, 1);
		assert_int_equal(bitmaprepo_row(&b, 0), nr);
		assert_int_equal(verify(&b, 0, &err), ERR_CORRUPT);
		oid_to_hex(hex, &r.objects[wrong].oid, HASH_SHA1);
		assert_non_null(strstr(err.msg, hex));
		assert_non_null(strstr(err.msg, ".bitmap"));
		memset(b.want, 0, RANDREPO_MAX);
		randrepo_reach(&r, b.want, nr);
		assert_int_equal(strstr(err.msg, "not reachable") != NULL,
				 !b.want[wrong]);
		bitmaprepo_close(&b);
		randrepo_release(&r);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_ones),
		cmocka_unit_test(wrong_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
