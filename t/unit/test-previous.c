/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/previous.c, which converts the bitmaps of an old index to the
 * bit positions of a new one: converted bitmaps must have the same objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/previous.h"
#include "t/unit/midxbitmap.h"

/*
 * Decodes the bitmap of `entry`. XORs it with the bitmaps on which it depends.
 */
static void complete(const struct bitmap_previous *p, size_t entry,
		     struct bitset *set)
{
	bitset_clear(set);
	for (;; entry -= p->entries[entry].xor_offset) {
		struct ewah_view view = ewah_view_of(&p->entries[entry].bitmap);

		ewah_xor_into(set, &view);
		if (!p->entries[entry].xor_offset)
			return;
	}
}

/*
 * Checks that each bitmap has the same objects in the old index and in the new
 * one.
 */
static void check_entries(struct bitmaprepo *b, const struct bitmap_space *to,
			  const struct bitmap_previous *p)
{
	struct bitset set, old = BITSET_INIT, scratch = BITSET_INIT;

	assert_int_equal(p->nr, b->pb->file.row_nr);
	assert_int_equal(bitset_init(&set, bitmap_space_nr(to)), 0);
	assert_int_equal(bitset_init(&old, b->pb->file.object_nr), 0);
	for (size_t i = 0; i < p->nr; i++) {
		uint32_t c = p->entries[i].commit_nr, idx_pos, row, bit;
		uint32_t obj_pos = b->walk.history.commits[c].obj_pos;

		assert_true(bitmap_space_idx(&b->pb->space, &b->walk.space,
					     obj_pos, &idx_pos));
		assert_true(bitmap_file_find(&b->pb->file, idx_pos, &row));
		bitset_clear(&old);
		assert_int_equal(
			bitmap_file_or(&old, &b->pb->file, row, &scratch, NULL),
			0);
		complete(p, i, &set);
		assert_int_equal(bitset_count(&set), bitset_count(&old));
		for (size_t k = bitset_next(&old, 0); k < old.bits;
		     k = bitset_next(&old, k + 1)) {
			assert_true(
				bitmap_remap_bit(&p->map, (uint32_t)k, &bit));
			assert_true(bitset_test(&set, bit));
		}
	}
	bitset_release(&set);
	bitset_release(&old);
	bitset_release(&scratch);
}

static void check_notes(struct bitmaprepo *b, const struct bitmap_space *to,
			const struct bitmap_previous *p)
{
	uint8_t *types = calloc(bitmap_space_nr(to), 1);
	uint32_t *hashes = calloc(bitmap_space_nr(to), sizeof(*hashes)), bit;

	assert_true(types && hashes);
	assert_int_equal(bitmap_previous_note(p, types, hashes), 0);
	for (uint32_t i = 0; i < b->pb->file.object_nr; i++) {
		assert_true(bitmap_remap_bit(&p->map, i, &bit));
		assert_int_equal(types[bit], pack_bitmap_type(b->pb, i));
		assert_int_equal(
			hashes[bitmap_space_idx_pos(to, bit)],
			bitmap_file_name_hash(&b->pb->file,
					      pack_bitmap_idx_pos(b->pb, i)));
	}
	free(types);
	free(hashes);
}

/*
 * Converts the bitmaps of an index to its own bit order, which must succeed.
 * Then converts them to the bit order of a pack that lacks some of the objects.
 * This second conversion must be refused.
 */
static void other_orders(void **state)
{
	uint64_t seed = random_seed();
	struct bitmap_previous p;
	struct bitmaprepo b;
	struct randrepo r;

	midxbitmap_history(&r, &seed, HASH_SHA1, 2);
	midxbitmap_write(&r);
	for (int whole = 0; whole < 2; whole++) {
		struct bitmap_space to;

		if (whole)
			bitmaprepo_repack(&r, false, false);
		bitmaprepo_open(&b, &r);
		to = b.pb->space;
		if (whole) {
			/*
			 * The new index is for a pack that lacks some objects
			 * of the old pack.
			 */
			const struct odb_pack *one = &b.odb->packs[0];

			for (uint32_t i = 1; i < b.odb->pack_nr; i++)
				if (b.odb->packs[i].pack->idx.nr >
				    one->pack->idx.nr)
					one = &b.odb->packs[i];
			to = bitmap_space_of_pack(
				b.odb, one, pack_get_rev(one->pack, NULL));
			/*
			 * Bitmaps contain objects that the new pack does not
			 * have. So no bitmap of the old index can be used.
			 */
			assert_int_equal(bitmap_previous_load(&p, &b.pb->file,
							      &b.pb->space, &to,
							      &b.walk, NULL),
					 1);
		} else {
			assert_int_equal(bitmap_previous_load(&p, &b.pb->file,
							      &b.pb->space, &to,
							      &b.walk, NULL),
					 0);
			assert_int_equal(p.map.run_nr, 1);
			check_entries(&b, &to, &p);
			check_notes(&b, &to, &p);
		}
		bitmap_previous_release(&p);
		bitmaprepo_close(&b);
	}
	randrepo_release(&r);
}

/*
 * Converts the bitmaps of a pack to the bit positions of a multi-pack-index,
 * which has this pack and one more.
 */
static void from_a_pack(void **state)
{
	uint64_t seed = random_seed();
	struct pack_midx_order order;
	struct bitmap_previous p;
	struct bitmap_space to;
	struct bitmaprepo b;
	struct randrepo r;
	struct odb *odb;

	midxbitmap_history(&r, &seed, HASH_SHA1, 1);
	bitmaprepo_repack(&r, true, true);
	randrepo_history(&r, 10);
	randrepo_store_pack(&r);
	bitmaprepo_open(&b, &r);
	assert_null(b.pb->space.midx);
	midxbitmap_write(&r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(pack_midx_order_init(&order, &odb->midxes[0]->midx,
					      NULL, 0, NULL),
			 0);
	to = bitmap_space_of_midx(odb, odb->midxes[0], &order);
	assert_int_equal(bitmap_previous_load(&p, &b.pb->file, &b.pb->space,
					      &to, &b.walk, NULL),
			 0);
	check_entries(&b, &to, &p);
	check_notes(&b, &to, &p);
	bitmap_previous_release(&p);
	pack_midx_order_release(&order);
	odb_close(odb);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * Writes a bitmap index of `nr` commits. The last bitmap is XORed with the
 * first.
 */
static void write_far(struct buf *out, struct bitmaprepo *b, uint32_t nr)
{
	struct bitmap_write_entry *entries = calloc(nr, sizeof(*entries));
	struct ewah types[BITMAP_TYPE_NR], bitmap;
	struct bitmap_write write = {
		.algo = HASH_SHA1,
		.object_nr = b->pb->file.object_nr,
		.checksum = b->pb->space.pack->pack->checksum,
		.types = types,
		.entries = entries,
		.entry_nr = nr,
	};
	uint32_t commit = 0;

	assert_non_null(entries);
	ewah_init(&bitmap);
	assert_int_equal(ewah_set(&bitmap, 0), 0);
	bitmaprepo_types(b, types);
	for (uint32_t i = 0; i < nr; commit++)
		if (ewah_test(&b->pb->file.types[BITMAP_COMMITS], commit))
			entries[i++] = (struct bitmap_write_entry){
				.idx_pos = pack_bitmap_idx_pos(b->pb, commit),
				.bitmap = &bitmap,
			};
	entries[nr - 1].xor_offset = (uint8_t)(nr - 1);
	assert_int_equal(bitmap_file_write(out, &write, NULL), 0);
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_release(&types[i]);
	ewah_release(&bitmap);
	free(entries);
}

/*
 * JGit cannot read XOR offsets above BITMAP_WRITE_XOR_OFFSET. An old index with
 * such an offset is not used: bitmap_previous_load() returns 1.
 */
static void far_differences(void **state)
{
	uint64_t seed = random_seed();
	struct bitmaprepo b;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 140);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	bitmaprepo_open(&b, &r);
	for (uint32_t far = BITMAP_WRITE_XOR_OFFSET; far < 129; far++) {
		struct bitmap_file file;
		struct bitmap_previous p;
		struct buf out = BUF_INIT;

		write_far(&out, &b, far + 1);
		assert_int_equal(bitmap_file_parse(&file, out.data, out.len,
						   b.pb->file.object_nr,
						   HASH_SHA1, "far", NULL),
				 0);
		assert_int_equal(bitmap_previous_load(&p, &file, &b.pb->space,
						      &b.pb->space, &b.walk,
						      NULL),
				 far > BITMAP_WRITE_XOR_OFFSET);
		bitmap_previous_release(&p);
		bitmap_file_release(&file);
		buf_release(&out);
	}
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * Writes a bitmap index with a lookup table, one commit, and one pseudo-merge
 * of this commit. The set of commits and the set of objects of the pseudo-merge
 * have only bit 0.
 */
static void write_one(struct buf *out, struct bitmaprepo *b)
{
	struct ewah types[BITMAP_TYPE_NR], set;
	const struct bitmap_write_entry entry = {
		.idx_pos = pack_bitmap_idx_pos(b->pb, 0),
		.bitmap = &set,
	};
	const struct bitmap_write_pseudo pseudo = {&set, &set};
	const struct bitmap_write write = {
		.algo = HASH_SHA1,
		.object_nr = b->pb->file.object_nr,
		.checksum = b->pb->space.pack->pack->checksum,
		.types = types,
		.entries = &entry,
		.entry_nr = 1,
		.pseudo = &pseudo,
		.pseudo_nr = 1,
		.lookup_table = true,
	};

	ewah_init(&set);
	assert_int_equal(ewah_set(&set, 0), 0);
	bitmaprepo_types(b, types);
	assert_int_equal(bitmap_file_write(out, &write, NULL), 0);
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_release(&types[i]);
	ewah_release(&set);
}

/*
 * Parses an index, changes one byte of the index, and converts the bitmaps.
 * `where` chooses the byte. Returns the result of bitmap_previous_load().
 */
static int load_changed(struct bitmaprepo *b, const struct buf *bytes,
			uint64_t (*where)(const struct bitmap_file *file))
{
	struct bitmap_previous p;
	struct bitmap_file file;
	int ret;

	assert_int_equal(bitmap_file_parse(&file, bytes->data, bytes->len,
					   b->pb->file.object_nr, HASH_SHA1,
					   "one", NULL),
			 0);
	bytes->data[where(&file)] ^= 0x40;
	ret = bitmap_previous_load(&p, &file, &b->pb->space, &b->pb->space,
				   &b->walk, NULL);
	bytes->data[where(&file)] ^= 0x40;
	bitmap_previous_release(&p);
	bitmap_file_release(&file);
	return ret;
}

/*
 * Returns the offset of the last byte of the file's checksum.
 * bitmap_previous_load() does not verify this checksum.
 */
static uint64_t at_checksum(const struct bitmap_file *file)
{
	return file->len - 1;
}

/*
 * The only row of the lookup table starts with idx_pos, a big-endian number.
 * Returns the offset in the file of the first byte of idx_pos, which is its
 * most significant byte.
 */
static uint64_t at_idx_pos(const struct bitmap_file *file)
{
	return (uint64_t)(file->lookup - file->bytes);
}

/*
 * Returns the offset in the file of a field of the only row of the lookup
 * table. The field says that the row's bitmap is stored whole. With another
 * value, the bitmap would be stored as an XOR with the bitmap of the row of
 * this number. After a change of the field's first byte, its value is the
 * number of a row that does not exist.
 */
static uint64_t at_xor_row(const struct bitmap_file *file)
{
	return (uint64_t)(file->lookup - file->bytes) + 12;
}

/*
 * The section of pseudo-merges has a table with one big-endian number: the
 * offset of the only pseudo-merge in the file. Returns the offset of the first
 * byte of this number, which is its most significant byte.
 */
static uint64_t at_pseudo_merge(const struct bitmap_file *file)
{
	return file->pseudo.positions;
}

/*
 * If an entry or a pseudo-merge of the old bitmap index is damaged, this index
 * is not used.
 */
static void damaged(void **state)
{
	uint64_t seed = random_seed();
	struct buf bytes = BUF_INIT;
	struct bitmaprepo b;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 10);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	bitmaprepo_open(&b, &r);
	write_one(&bytes, &b);
	assert_int_equal(load_changed(&b, &bytes, at_checksum), 0);
	assert_int_equal(load_changed(&b, &bytes, at_idx_pos), 1);
	assert_int_equal(load_changed(&b, &bytes, at_xor_row), 1);
	assert_int_equal(load_changed(&b, &bytes, at_pseudo_merge), 1);
	buf_release(&bytes);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(far_differences),
		cmocka_unit_test(other_orders),
		cmocka_unit_test(from_a_pack),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
