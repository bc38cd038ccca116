/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for bitmap indexes. The first two bytes of the input are the
 * number of objects in the pack; the rest is a bitmap index file. If the file
 * can be parsed, each of its bitmaps and pseudo-merges is loaded. Loading must
 * either fail, or set only bits of objects in the pack. A loaded bitmap is
 * written to a new file. Reading this file must give the same bits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bitmap/file-write.h"
#include "bitmap/file.h"
#include "bitmap/pseudo-merge.h"
#include "t/fuzz/fuzz.h"

/*
 * Maximum number of bitmaps to load from one input. A few bytes can describe
 * many bitmaps that are XORed with each other, so loading all of them could
 * take too long.
 */
#define ROWS_MAX 64

static void check_types(const struct bitmap_file *f)
{
	struct bitset set;

	for (int i = 0; i < BITMAP_TYPE_NR; i++) {
		require(bitset_init(&set, f->object_nr) == 0);
		ewah_or_into(&set, &f->types[i]);
		require(bitset_count(&set) <= f->object_nr);
		require(ewah_count_and(&f->types[i], &set) ==
			bitset_count(&set));
		bitset_release(&set);
	}
}

/* Write one bitmap to a new file, and read it again. */
static void check_round_trip(const struct bitmap_file *f, uint32_t idx_pos,
			     const struct bitset *set)
{
	struct ewah types[BITMAP_TYPE_NR], bitmap;
	struct bitmap_write_entry entry = {idx_pos, 0, &bitmap};
	struct bitmap_write w = {
		.algo = f->algo,
		.object_nr = f->object_nr,
		.types = types,
		.entries = &entry,
		.entry_nr = 1,
		.lookup_table = true,
	};
	struct bitset again, scratch = BITSET_INIT;
	struct buf out = BUF_INIT;
	struct bitmap_file read;
	uint32_t row;

	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_init(&types[i]);
	ewah_init(&bitmap);
	require(ewah_from_bitset(&bitmap, set) == 0);
	require(bitmap_file_write(&out, &w, NULL) == 0);
	require(bitmap_file_parse(&read, out.data, out.len, f->object_nr,
				  f->algo, "written", NULL) == 0);
	require(bitmap_file_verify(&read, NULL) == 0);
	require(bitmap_file_find(&read, idx_pos, &row));
	require(bitset_init(&again, f->object_nr) == 0);
	require(bitmap_file_or(&again, &read, row, &scratch, NULL) == 0);
	require(bitset_equal(&again, set));
	bitset_release(&again);
	bitset_release(&scratch);
	bitmap_file_release(&read);
	ewah_release(&bitmap);
	buf_release(&out);
}

static void load_rows(const struct bitmap_file *f)
{
	struct bitset scratch = BITSET_INIT;
	uint32_t nr = f->row_nr < ROWS_MAX ? f->row_nr : ROWS_MAX;

	for (uint32_t row = 0; row < nr; row++) {
		struct bitset set;
		uint32_t idx_pos = bitmap_file_row(f, row).idx_pos, found;

		require(bitset_init(&set, f->object_nr) == 0);
		bitmap_file_find(f, idx_pos, &found);
		bitmap_file_name_hash(f, idx_pos);
		if (!bitmap_file_or(&set, f, row, &scratch, NULL)) {
			require(bitset_count(&set) <= f->object_nr);
			check_round_trip(f, idx_pos, &set);
		}
		bitset_release(&set);
	}
	bitset_release(&scratch);
}

static int note(void *ctx, uint32_t nr)
{
	const struct pseudo_merges *pm = ctx;

	require(nr < pm->nr);
	return 0;
}

/*
 * Look up the pseudo-merges of the commit at each of the first ROWS_MAX bits,
 * and note this commit as reached. Then add to `set` the objects of each
 * pseudo-merge whose commits are all reached.
 */
static void load_pseudo(struct pseudo_merges *pm)
{
	uint32_t bits = pm->object_nr < ROWS_MAX ? pm->object_nr : ROWS_MAX;
	struct pseudo_fill pf;
	struct bitset set;

	require(bitset_init(&set, pm->object_nr) == 0);
	pseudo_fill_init(&pf, pm);
	for (uint32_t bit = 0; bit < bits; bit++) {
		pseudo_merges_each_of(pm, bit, note, pm, NULL);
		pseudo_fill_note(&pf, bit, NULL);
	}
	pseudo_fill_run(&pf, &set, NULL);
	require(bitset_count(&set) <= pm->object_nr);
	if (pm->nr && !pseudo_merges_verify(pm, NULL))
		require(pm->row_nr <= pm->object_nr);
	pseudo_fill_release(&pf);
	bitset_release(&set);
}

/*
 * Parse the input as the bitmap file of an upper layer in a chain. The lower
 * layer is `base`, which was parsed from the same bytes.
 */
static void load_layer(const struct bitmap_file *base, const uint8_t *bytes,
		       size_t len)
{
	struct bitmap_file f;

	if (bitmap_file_parse_layer(&f, bytes, len, 2 * base->object_nr, base,
				    HASH_SHA1, "fuzz", NULL) < 0) {
		require(!f.bytes && !f.rows);
		return;
	}
	bitmap_file_verify(&f, NULL);
	load_rows(&f);
	bitmap_file_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct bitmap_file f;
	uint32_t object_nr;

	if (len < 2)
		return 0;
	object_nr = (uint32_t)bytes[0] << 8 | bytes[1];
	if (bitmap_file_parse(&f, bytes + 2, len - 2, object_nr, HASH_SHA1,
			      "fuzz", NULL) < 0) {
		require(!f.bytes && !f.rows);
		return 0;
	}
	bitmap_file_verify(&f, NULL);
	check_types(&f);
	load_rows(&f);
	load_pseudo(&f.pseudo);
	load_layer(&f, bytes + 2, len - 2);
	bitmap_file_release(&f);
	return 0;
}
