/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/file.c, which parses bitmap index files. They prove that
 * valid files give the right bitmaps, and that each kind of error is noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "bitmap/file-write.h"
#include "bitmap/file.h"
#include "object/hash.h"
#include "t/unit/hexdump.h"
#include "t/unit/random.h"

/* The bytes of the example of a bitmap index in bitmap/file.h. */
static const char example[] =
	"4249544d 0001 0015 00000002 77777777 x 5\n"
	"00000004 00000002 00000002 00000000 00000000 00000003 00000000\n"
	"00000004 00000002 00000002 00000000 00000000 00000004 00000000\n"
	"00000004 00000002 00000002 00000000 00000000 00000008 00000000\n"
	"00000004 00000001 00000000 00000002 00000000\n"
	"00000002 00 00\n"
	"00000004 00000002 00000002 00000000 00000000 0000000e 00000000\n"
	"00000000 01 00\n"
	"00000004 00000002 00000002 00000000 00000000 00000001 00000000\n"
	"00000000 00000000 000000aa 00000001\n"
	"00000002 00000000 00000088 ffffffff\n"
	"00000000 00000000 00000000 62000000\n"
	"c8650ca8 3545e467 0ee04113 99f0a289 2a807c24";

/* Offsets in the example. */
enum {
	VERSION = 4,
	FLAGS = 6,
	ENTRY_NR = 8,
	CHECKSUM = 12,
	/*
	 * Offsets in bytes of the bitmap entries, of the rows of the lookup
	 * table, and of the path hashes.
	 */
	PARENT = 0x88,
	COMMIT = 0xaa,
	ROW_0 = 0xcc,
	ROW_1 = 0xdc,
	CACHE = 0xec,
	EXAMPLE_LEN = 0x110,
	OBJECT_NR = 4,
};

/*
 * Returns a copy of the example file, which a test may change. The copy has
 * exactly the size of the file, so that AddressSanitizer reports reads past its
 * end.
 */
static uint8_t *example_bytes(void)
{
	struct buf file = BUF_INIT;
	uint8_t *bytes = malloc(EXAMPLE_LEN);

	hexdump_parse(&file, example);
	assert_int_equal(file.len, EXAMPLE_LEN);
	assert_non_null(bytes);
	memcpy(bytes, file.data, EXAMPLE_LEN);
	buf_release(&file);
	return bytes;
}

static int parse(struct bitmap_file *f, const uint8_t *bytes, size_t len,
		 struct error *err)
{
	return bitmap_file_parse(f, bytes, len, OBJECT_NR, HASH_SHA1,
				 "x.bitmap", err);
}

/*
 * Sets *bits to the bitmap in row `row`, as a number: bit i of the bitmap
 * becomes bit i of the number. Returns the result of bitmap_file_or().
 */
static int load(const struct bitmap_file *f, uint32_t row, unsigned *bits)
{
	struct bitset set, scratch = BITSET_INIT;
	int ret;

	assert_int_equal(bitset_init(&set, f->object_nr), 0);
	ret = bitmap_file_or(&set, f, row, &scratch, NULL);
	*bits = (unsigned)set.words[0];
	assert_true(*bits < 1 << OBJECT_NR);
	bitset_release(&set);
	bitset_release(&scratch);
	return ret;
}

static unsigned type_bits(const struct bitmap_file *f, enum bitmap_type type)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < OBJECT_NR; i++)
		bits |= (unsigned)ewah_test(&f->types[type], i) << i;
	return bits;
}

static void check_example(const struct bitmap_file *f)
{
	uint32_t row;
	unsigned bits;

	assert_int_equal(f->row_nr, 2);
	assert_int_equal(f->checksum[19], 0x77);
	assert_int_equal(type_bits(f, BITMAP_COMMITS), 3);
	assert_int_equal(type_bits(f, BITMAP_TREES), 4);
	assert_int_equal(type_bits(f, BITMAP_BLOBS), 8);
	assert_int_equal(type_bits(f, BITMAP_TAGS), 0);
	assert_true(bitmap_file_find(f, 0, &row));
	assert_int_equal(row, 0);
	assert_int_equal(load(f, row, &bits), 0);
	assert_int_equal(bits, 15);
	assert_true(bitmap_file_find(f, 2, &row));
	assert_int_equal(row, 1);
	assert_int_equal(load(f, row, &bits), 0);
	assert_int_equal(bits, 14);
	assert_false(bitmap_file_find(f, 1, &row));
	assert_false(bitmap_file_find(f, 3, &row));
	assert_false(bitmap_file_find(f, UINT32_MAX, &row));
}

static void the_example(void **state)
{
	uint8_t *bytes = example_bytes();
	struct bitmap_file f;

	assert_int_equal(parse(&f, bytes, EXAMPLE_LEN, NULL), 0);
	assert_non_null(f.lookup);
	check_example(&f);
	assert_int_equal(f.entries_end, ROW_0);
	assert_int_equal(bitmap_file_name_hash(&f, 3), 0x62000000);
	assert_int_equal(bitmap_file_name_hash(&f, 0), 0);
	assert_int_equal(bitmap_file_name_hash(&f, 4), 0);
	assert_int_equal(bitmap_file_verify(&f, NULL), 0);
	bitmap_file_release(&f);
	free(bytes);
}

/* ---- layers */

enum { UPPER_NR = 3, COMMIT_BIT = OBJECT_NR, COMMIT_IDX = OBJECT_NR + 1 };

/*
 * Writes the bitmap index of the upper layer of a chain. The layer has three
 * objects: a commit, its tree, and the blob in this tree.
 */
static void write_upper(struct buf *out, bool lookup_table)
{
	static const uint32_t hashes[UPPER_NR] = {7, 8, 9};
	struct ewah types[BITMAP_TYPE_NR], all;
	const struct bitmap_write_entry entry = {COMMIT_IDX, 0, &all};
	const struct bitmap_write w = {
		.algo = HASH_SHA1,
		.object_nr = UPPER_NR,
		.types = types,
		.entries = &entry,
		.entry_nr = 1,
		.hash_cache = hashes,
		.lookup_table = lookup_table,
	};

	ewah_init(&all);
	for (int i = 0; i < BITMAP_TYPE_NR; i++) {
		ewah_init(&types[i]);
		if (i < UPPER_NR)
			assert_int_equal(
				ewah_set(&types[i], OBJECT_NR + (size_t)i), 0);
	}
	for (size_t bit = 0; bit < OBJECT_NR + UPPER_NR; bit++)
		assert_int_equal(ewah_set(&all, bit), 0);
	assert_int_equal(bitmap_file_write(out, &w, NULL), 0);
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_release(&types[i]);
	ewah_release(&all);
}

static unsigned all_of_type(const struct bitmap_file *f, enum bitmap_type type)
{
	struct bitset set;
	unsigned bits;

	assert_int_equal(bitset_init(&set, f->object_nr), 0);
	bitmap_file_or_type(&set, f, type);
	bits = (unsigned)set.words[0];
	for (unsigned i = 0; i < f->object_nr; i++)
		assert_int_equal(bitmap_file_is_type(f, type, i),
				 bits >> i & 1);
	assert_int_equal(bitmap_file_count_type(f, type), bitset_count(&set));
	assert_int_equal(bitmap_file_count_type_in(f, type, &set),
			 bitset_count(&set));
	bitmap_file_andnot_type(&set, f, type);
	assert_int_equal(bitset_count(&set), 0);
	bitset_release(&set);
	return bits;
}

static unsigned bits_of(const struct bitmap_file *f, uint32_t idx_pos)
{
	struct bitset set, scratch = BITSET_INIT;
	uint32_t row;
	unsigned bits;

	assert_true(bitmap_file_find(f, idx_pos, &row));
	assert_int_equal(bitmap_file_row(f, row).idx_pos, idx_pos);
	assert_int_equal(bitset_init(&set, f->object_nr), 0);
	assert_int_equal(bitmap_file_or(&set, f, row, &scratch, NULL), 0);
	bits = (unsigned)set.words[0];
	bitset_release(&set);
	bitset_release(&scratch);
	return bits;
}

static void check_layers(const struct bitmap_file *f)
{
	struct bitmap_sections s;
	struct bitmap_stored stored[3], one;
	uint32_t rows[3];

	assert_int_equal(f->object_nr, OBJECT_NR + UPPER_NR);
	assert_int_equal(f->row_nr, 3);
	assert_int_equal(all_of_type(f, BITMAP_COMMITS), 0x13);
	assert_int_equal(all_of_type(f, BITMAP_TREES), 0x24);
	assert_int_equal(all_of_type(f, BITMAP_BLOBS), 0x48);
	assert_int_equal(all_of_type(f, BITMAP_TAGS), 0);
	assert_int_equal(bits_of(f, 0), 0x0f);
	assert_int_equal(bits_of(f, 2), 0x0e);
	assert_int_equal(bits_of(f, COMMIT_IDX), 0x7f);
	assert_false(bitmap_file_find(f, COMMIT_BIT, rows));
	assert_int_equal(bitmap_file_row(f, 0).xor_row, 1);
	assert_int_equal(bitmap_file_order(rows, f), 0);
	assert_int_equal(rows[0], 1);
	assert_int_equal(rows[1], 0);
	assert_int_equal(rows[2], 2);
	assert_int_equal(bitmap_file_stored_all(stored, f, NULL), 0);
	for (uint32_t row = 0; row < 3; row++) {
		assert_int_equal(bitmap_file_stored(&one, f, row, NULL), 0);
		assert_int_equal(stored[row].len, one.len);
		assert_int_equal(stored[row].depth, one.depth);
	}
	assert_int_equal(stored[0].depth, 1);
	assert_int_equal(bitmap_file_name_hash(f, 3), 0x62000000);
	for (uint32_t i = 0; i < UPPER_NR; i++)
		assert_int_equal(bitmap_file_name_hash(f, OBJECT_NR + i),
				 7 + i);
	assert_int_equal(bitmap_file_name_hash(f, OBJECT_NR + UPPER_NR), 0);
	bitmap_file_sections(&s, f);
	assert_int_equal(s.header + s.types + s.entries + s.pseudo_merges +
				 s.lookup_table + s.hash_cache + s.checksum,
			 bitmap_file_len(f));
}

static void layers(void **state)
{
	uint8_t *bytes = example_bytes();
	struct bitmap_file base, f;

	for (int i = 0; i < 2; i++) {
		struct buf upper = BUF_INIT;

		assert_int_equal(parse(&base, bytes, EXAMPLE_LEN, NULL), 0);
		write_upper(&upper, i != 0);
		base.pseudo = (struct pseudo_merges){
			.nr = 1,
			.object_nr = OBJECT_NR,
		};
		assert_int_equal(
			bitmap_file_parse_layer(&f, upper.data, upper.len,
						OBJECT_NR + UPPER_NR, &base,
						HASH_SHA1, "y.bitmap", NULL),
			0);
		check_layers(&f);
		/*
		 * The pseudo-merges of the lower layer also apply to the upper
		 * layer: each of them has a bit for each object of both layers.
		 */
		assert_int_equal(f.pseudo.nr, 1);
		assert_int_equal(f.pseudo.object_nr, f.object_nr);
		assert_int_equal(bitmap_file_verify(&f, NULL), 0);
		bytes[EXAMPLE_LEN - 1] ^= 1;
		assert_int_equal(bitmap_file_verify(&f, NULL), ERR_CORRUPT);
		bytes[EXAMPLE_LEN - 1] ^= 1;
		bitmap_file_release(&f);
		/*
		 * The file is too short to have path hashes of so many objects.
		 */
		assert_int_equal(bitmap_file_parse_layer(
					 &f, upper.data, upper.len, 1 << 20,
					 &base, HASH_SHA1, "y.bitmap", NULL),
				 ERR_CORRUPT);
		bitmap_file_release(&base);
		buf_release(&upper);
	}
	free(bytes);
}

/*
 * An upper layer has two bitmaps. The second is stored as an XOR with the
 * first. Each bitmap has a row in the lookup table of its layer. The rows of
 * all layers are numbered together: the numbers of the upper layer follow those
 * of the lower layer.
 */
static void xor_in_layer(void **state)
{
	uint8_t *bytes = example_bytes();
	struct ewah types[BITMAP_TYPE_NR], one, none;
	const struct bitmap_write_entry entries[] = {
		{OBJECT_NR, 0, &one},
		{OBJECT_NR + 1, 1, &none},
	};
	const struct bitmap_write w = {
		.algo = HASH_SHA1,
		.object_nr = 2,
		.types = types,
		.entries = entries,
		.entry_nr = 2,
		.lookup_table = true,
	};
	struct bitmap_file base, f;
	struct buf upper = BUF_INIT;
	uint32_t row, xor_row;

	ewah_init(&one);
	ewah_init(&none);
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_init(&types[i]);
	assert_int_equal(ewah_set(&types[BITMAP_COMMITS], OBJECT_NR), 0);
	assert_int_equal(ewah_set(&types[BITMAP_COMMITS], OBJECT_NR + 1), 0);
	assert_int_equal(ewah_set(&one, OBJECT_NR), 0);
	assert_int_equal(bitmap_file_write(&upper, &w, NULL), 0);
	assert_int_equal(parse(&base, bytes, EXAMPLE_LEN, NULL), 0);
	assert_int_equal(bitmap_file_parse_layer(&f, upper.data, upper.len,
						 OBJECT_NR + 2, &base,
						 HASH_SHA1, "y.bitmap", NULL),
			 0);
	assert_true(bitmap_file_find(&f, OBJECT_NR, &xor_row));
	assert_true(bitmap_file_find(&f, OBJECT_NR + 1, &row));
	assert_true(xor_row >= base.row_nr);
	assert_int_equal(bitmap_file_row(&f, row).xor_row, xor_row);
	assert_int_equal(bits_of(&f, OBJECT_NR + 1), 1u << OBJECT_NR);
	ewah_release(&one);
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_release(&types[i]);
	bitmap_file_release(&f);
	bitmap_file_release(&base);
	buf_release(&upper);
	free(bytes);
}

/*
 * Removes the bytes [from, to) from the example file. Returns the new length.
 */
static size_t cut(uint8_t *bytes, size_t len, size_t from, size_t to)
{
	memmove(bytes + from, bytes + to, len - to);
	return len - (to - from);
}

static void without_extensions(void **state)
{
	for (unsigned left_out = 0; left_out < 4; left_out++) {
		uint8_t *bytes = example_bytes();
		size_t len = EXAMPLE_LEN;
		struct bitmap_file f;

		if (left_out & 1) {
			bytes[FLAGS + 1] &= (uint8_t)~BITMAP_HASH_CACHE;
			len = cut(bytes, len, CACHE, CACHE + 16);
		}
		if (left_out & 2) {
			bytes[FLAGS + 1] &= (uint8_t)~BITMAP_LOOKUP_TABLE;
			len = cut(bytes, len, ROW_0, ROW_0 + 32);
		}
		assert_int_equal(parse(&f, bytes, len, NULL), 0);
		check_example(&f);
		assert_int_equal(bitmap_file_name_hash(&f, 3),
				 left_out & 1 ? 0 : 0x62000000);
		bitmap_file_release(&f);
		free(bytes);
	}
}

/*
 * Checks the sizes that the parser reports for bitmaps and sections. Together,
 * the sections must have the size of the file.
 */
static void what_is_stored(void **state)
{
	for (unsigned left_out = 0; left_out < 2; left_out++) {
		uint8_t *bytes = example_bytes();
		size_t len = EXAMPLE_LEN;
		struct bitmap_stored stored;
		struct bitmap_sections s;
		struct bitmap_file f;

		if (left_out) {
			bytes[FLAGS + 1] &= (uint8_t)~BITMAP_LOOKUP_TABLE;
			len = cut(bytes, len, ROW_0, ROW_0 + 32);
		}
		assert_int_equal(parse(&f, bytes, len, NULL), 0);
		assert_int_equal(bitmap_file_stored(&stored, &f, 0, NULL), 0);
		assert_int_equal(stored.len, 0xcc - 0xaa);
		assert_int_equal(stored.depth, 1);
		assert_int_equal(bitmap_file_stored(&stored, &f, 1, NULL), 0);
		assert_int_equal(stored.len, 0xaa - 0x88);
		assert_int_equal(stored.depth, 0);
		bitmap_file_sections(&s, &f);
		assert_int_equal(s.header, 0x20);
		assert_int_equal(s.types, 0x88 - 0x20);
		assert_int_equal(s.entries, 0xcc - 0x88);
		assert_int_equal(s.pseudo_merges, 0);
		assert_int_equal(s.lookup_table, left_out ? 0 : 32);
		assert_int_equal(s.hash_cache, 16);
		assert_int_equal(s.checksum, 20);
		bitmap_file_release(&f);
		free(bytes);
	}
}

/*
 * The section of pseudo-merges has a footer, but no pseudo-merges. The section
 * comes after the bitmaps.
 */
static void pseudo_merges_are_found(void **state)
{
	uint8_t *bytes = example_bytes(), *more = calloc(1, EXAMPLE_LEN + 50);
	struct bitmap_file f;

	assert_non_null(more);
	memcpy(more, bytes, ROW_0);
	/*
	 * Footer of the section of pseudo-merges: the offset of the lookup
	 * table in the section, and the size of the section.
	 */
	store_be64(more + ROW_0 + 50 - 16, 50 - 24);
	store_be64(more + ROW_0 + 50 - 8, 50);
	memcpy(more + ROW_0 + 50, bytes + ROW_0, EXAMPLE_LEN - ROW_0);
	more[FLAGS + 1] |= BITMAP_PSEUDO_MERGES;
	assert_int_equal(parse(&f, more, EXAMPLE_LEN + 50, NULL), 0);
	assert_int_equal(f.pseudo.start, ROW_0);
	assert_int_equal(f.entries_end, ROW_0);
	check_example(&f);
	bitmap_file_release(&f);
	/*
	 * The footer gives the size of the section of pseudo-merges as 23
	 * bytes. This is too small, because the footer itself has 24 bytes.
	 */
	more[ROW_0 + 50 - 1] = 23;
	assert_int_equal(parse(&f, more, EXAMPLE_LEN + 50, NULL), ERR_CORRUPT);
	assert_null(f.bytes);
	free(more);
	free(bytes);
}

static void headers(void **state)
{
	static const struct {
		size_t off;
		uint8_t byte;
		int ret;
	} cases[] = {
		{0, 'b', ERR_CORRUPT},
		{VERSION + 1, 2, ERR_UNSUPPORTED},
		{FLAGS + 1, 0x14, ERR_UNSUPPORTED}, /* no full closure */
		{FLAGS + 1, 0x55, ERR_UNSUPPORTED},
		{FLAGS, 0x80, ERR_UNSUPPORTED},
		{ENTRY_NR, 1, ERR_CORRUPT},
		{ENTRY_NR + 3, 3, ERR_CORRUPT}, /* rows extend into entries */
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		uint8_t *bytes = example_bytes();
		struct error err = ERROR_INIT;
		struct bitmap_file f;
		unsigned bits;
		int ret;

		bytes[cases[i].off] = cases[i].byte;
		ret = parse(&f, bytes, EXAMPLE_LEN, &err);
		if (!ret) {
			ret = load(&f, 0, &bits);
			bitmap_file_release(&f);
		} else {
			assert_non_null(strstr(err.msg, "x.bitmap"));
		}
		assert_int_equal(ret, cases[i].ret);
		assert_null(f.bytes);
		free(bytes);
	}
}

/*
 * Callback of bitmap_file_or_rest(), which says whether the set already
 * contains the commit at idx_pos. This callback always answers "no", and checks
 * that idx_pos is valid.
 */
static bool has_none(void *ctx, uint32_t idx_pos)
{
	assert_true(idx_pos < OBJECT_NR);
	return false;
}

/*
 * If a file has no valid header, the error message says that the file is too
 * short, or that it is not a bitmap index.
 */
static void no_header(void **state)
{
	uint8_t *bytes = example_bytes();
	struct error err = ERROR_INIT;
	struct bitmap_file f;

	assert_int_equal(parse(&f, bytes, 31, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "header is cut short"));
	assert_int_equal(parse(&f, bytes, 4, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "header is cut short"));
	assert_int_equal(parse(&f, bytes, 3, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "not a bitmap index"));
	bytes[3] = 'X';
	assert_int_equal(parse(&f, bytes, EXAMPLE_LEN, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "not a bitmap index"));
	free(bytes);
}

/*
 * A bitmap is XORed with the bitmap of an object that does not exist. The row
 * of the lookup table and the entry agree, so the parser cannot detect the
 * error. But reading the bitmap must fail.
 */
static void difference_to_no_object(void **state)
{
	static const uint32_t wrong[] = {OBJECT_NR, 1 << 23, UINT32_MAX};
	const struct bitmap_held held = {.has = has_none};

	for (size_t i = 0; i < ARRAY_NR(wrong); i++) {
		uint8_t *bytes = example_bytes();
		struct bitset set, scratch = BITSET_INIT;
		struct bitmap_file f;

		store_be32(bytes + ROW_1, wrong[i]);
		store_be32(bytes + PARENT, wrong[i]);
		assert_int_equal(parse(&f, bytes, EXAMPLE_LEN, NULL), 0);
		assert_int_equal(bitset_init(&set, f.object_nr), 0);
		assert_int_equal(
			bitmap_file_or_rest(&set, &f, 0, &held, &scratch, NULL),
			ERR_CORRUPT);
		bitset_release(&set);
		bitset_release(&scratch);
		bitmap_file_release(&f);
		free(bytes);
	}
}

/*
 * Each case makes the file inconsistent: it changes a row of the lookup table,
 * or the bitmap entry to which a row points.
 */
static void wrong_rows(void **state)
{
	static const struct {
		size_t off;
		uint32_t value;
	} cases[] = {
		/*
		 * Row 0 of the lookup table and its entry name different
		 * commits.
		 */
		{ROW_0, 1},
		{ROW_0 + 4, 1},         /* offset beyond 4 GiB */
		{ROW_0 + 8, ROW_0 - 5}, /* no room for an entry */
		{ROW_0 + 8, ROW_0},
		{ROW_0 + 8, UINT32_MAX},
		/*
		 * The offset in row 0 of the lookup table is wrong. In the
		 * first case, it leads to the entry of row 1. In the second
		 * case, it leads into the middle of the row's own entry.
		 */
		{ROW_0 + 8, PARENT},
		{ROW_0 + 8, COMMIT + 1},
		{ROW_0 + 12, 0}, /* XORed with itself */
		{ROW_0 + 12, 2}, /* XORed with no row */
		/*
		 * Row 0 of the lookup table says that its bitmap is not XORed.
		 * But the entry of this bitmap has an XOR offset.
		 */
		{ROW_0 + 12, UINT32_MAX},
		/*
		 * Row 1 of the lookup table has the offset of the bitmap entry
		 * of row 0.
		 */
		{ROW_1 + 8, COMMIT},
		{ROW_1 + 12, 0}, /* a cycle */
		{COMMIT, 2},
		{COMMIT + 6, 100}, /* more bits than objects */
		{COMMIT + 10, 3},  /* missing words */
		{COMMIT + 30, 1},  /* not an RLW */
		{PARENT + 14, 7},  /* more literals than words */
		{PARENT + 6, 1 << 30},
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		uint8_t *bytes = example_bytes();
		struct bitmap_file f;
		unsigned bits;

		store_be32(bytes + cases[i].off, cases[i].value);
		assert_int_equal(parse(&f, bytes, EXAMPLE_LEN, NULL), 0);
		assert_int_equal(load(&f, 0, &bits), ERR_CORRUPT);
		assert_int_equal(bitmap_file_verify(&f, NULL), ERR_CORRUPT);
		bitmap_file_release(&f);
		free(bytes);
	}
}

/*
 * In a file without a lookup table, wrong entries are found when the file is
 * parsed.
 */
static void wrong_entries(void **state)
{
	static const struct {
		size_t off;
		uint8_t byte;
	} cases[] = {
		{ENTRY_NR + 3, 3}, /* one entry too many */
		/*
		 * The XOR offset of the first bitmap leads to a bitmap before
		 * the first.
		 */
		{PARENT + 4, 1},
		{COMMIT + 4, 2},
		/* The XOR offset is larger than the format allows. */
		{COMMIT + 4, 161},
		{COMMIT + 10, 1},
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		uint8_t *bytes = example_bytes();
		struct bitmap_file f;
		size_t len;

		bytes[FLAGS + 1] &= (uint8_t)~BITMAP_LOOKUP_TABLE;
		len = cut(bytes, EXAMPLE_LEN, ROW_0, ROW_0 + 32);
		bytes[cases[i].off] = cases[i].byte;
		assert_int_equal(parse(&f, bytes, len, NULL), ERR_CORRUPT);
		assert_null(f.rows);
		free(bytes);
	}
}

/*
 * Loads all bitmaps of a file. Asserts that loaded bits are within range.
 * Returns true if no load failed.
 */
static bool read_all(const uint8_t *bytes, size_t len)
{
	uint8_t *exact = malloc(len + 1);
	struct bitmap_file f;
	bool sound = false;

	assert_non_null(exact);
	memcpy(exact, bytes, len);
	exact = realloc(exact, len ? len : 1);
	if (!parse(&f, exact, len, NULL)) {
		sound = !bitmap_file_verify(&f, NULL);
		for (uint32_t i = 0; i < f.row_nr; i++) {
			unsigned bits;

			load(&f, i, &bits);
			bitmap_file_find(&f, i, &(uint32_t){0});
		}
		for (uint32_t i = 0; i <= OBJECT_NR; i++)
			bitmap_file_name_hash(&f, i);
		bitmap_file_release(&f);
	}
	free(exact);
	return sound;
}

static void prefixes_and_flips(void **state)
{
	uint8_t *bytes = example_bytes();

	for (int tables = 0; tables < 2; tables++) {
		size_t len = EXAMPLE_LEN;

		if (tables) {
			bytes[FLAGS + 1] &= (uint8_t)~BITMAP_LOOKUP_TABLE;
			len = cut(bytes, len, ROW_0, ROW_0 + 32);
		}
		assert_int_equal(read_all(bytes, len), !tables);
		for (size_t i = 0; i < len; i++) {
			assert_false(read_all(bytes, i));
			for (int bit = 0; bit < 8; bit++) {
				bytes[i] ^= (uint8_t)(1 << bit);
				assert_false(read_all(bytes, len));
				bytes[i] ^= (uint8_t)(1 << bit);
			}
		}
	}
	free(bytes);
}

static void random_damage(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 20000; i++) {
		uint8_t *bytes = example_bytes();

		for (uint64_t n = random_next(&seed) % 6 + 1; n > 0; n--)
			bytes[random_next(&seed) % EXAMPLE_LEN] =
				random_next(&seed) % 2
					? (uint8_t)random_next(&seed)
					: (uint8_t)(random_next(&seed) % 5);
		read_all(bytes, EXAMPLE_LEN - random_next(&seed) % 3);
		free(bytes);
	}
}

/*
 * ORs bitmaps into a set that has more bits than the pack. The bits after those
 * of the pack must not change.
 */
static void large_sets(void **state)
{
	uint8_t *bytes = example_bytes();
	struct bitset set, scratch;
	struct bitmap_file f;

	assert_int_equal(parse(&f, bytes, EXAMPLE_LEN, NULL), 0);
	assert_int_equal(bitset_init(&set, 300), 0);
	assert_int_equal(bitset_init(&scratch, 500), 0);
	bitset_set(&set, 200);
	bitset_set_range(&scratch, 0, 500);
	assert_int_equal(bitmap_file_or(&set, &f, 0, &scratch, NULL), 0);
	assert_int_equal(bitset_count(&set), 5);
	assert_true(bitset_test(&set, 200));
	bitset_release(&set);
	bitset_release(&scratch);
	bitmap_file_release(&f);
	free(bytes);
}

/*
 * The pack has 64 objects, so a bitmap may use the bits 0 to 63. A bitmap with
 * bit 64 is refused.
 */
static void too_many_bits(void **state)
{
	for (uint32_t bit = 63; bit <= 64; bit++) {
		struct ewah types[BITMAP_TYPE_NR], bitmap;
		struct bitmap_write_entry entry = {.bitmap = &bitmap};
		struct bitmap_write write = {
			.algo = HASH_SHA1,
			.object_nr = 64,
			.types = types,
			.entries = &entry,
			.entry_nr = 1,
		};
		struct error err = ERROR_INIT;
		struct bitset set, scratch = BITSET_INIT;
		struct buf out = BUF_INIT;
		struct bitmap_file f;
		int ret;

		for (int i = 0; i < BITMAP_TYPE_NR; i++)
			ewah_init(&types[i]);
		ewah_init(&bitmap);
		assert_int_equal(ewah_set(&bitmap, bit), 0);
		assert_int_equal(bitmap_file_write(&out, &write, NULL), 0);
		assert_int_equal(bitmap_file_parse(
					 &f, (const uint8_t *)out.data, out.len,
					 64, HASH_SHA1, "x.bitmap", NULL),
				 0);
		assert_int_equal(bitset_init(&set, 128), 0);
		ret = bitmap_file_or(&set, &f, 0, &scratch, &err);
		assert_int_equal(ret, bit < 64 ? 0 : ERR_CORRUPT);
		assert_int_equal(bitset_count(&set), bit < 64);
		assert_int_equal(!!strstr(err.msg, "larger than"), bit >= 64);
		bitset_release(&set);
		bitset_release(&scratch);
		bitmap_file_release(&f);
		ewah_release(&bitmap);
		buf_release(&out);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example),
		cmocka_unit_test(layers),
		cmocka_unit_test(xor_in_layer),
		cmocka_unit_test(without_extensions),
		cmocka_unit_test(what_is_stored),
		cmocka_unit_test(pseudo_merges_are_found),
		cmocka_unit_test(headers),
		cmocka_unit_test(no_header),
		cmocka_unit_test(difference_to_no_object),
		cmocka_unit_test(wrong_rows),
		cmocka_unit_test(wrong_entries),
		cmocka_unit_test(prefixes_and_flips),
		cmocka_unit_test(random_damage),
		cmocka_unit_test(large_sets),
		cmocka_unit_test(too_many_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
