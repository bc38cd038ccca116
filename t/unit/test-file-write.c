/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/file-write.c, which writes bitmap index files. They prove
 * that parsing a written file gives the same bitmaps, in all layouts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "bitmap/file-write.h"
#include "object/hash.h"
#include "t/unit/random.h"

#define BITS 300
#define ENTRIES 60

/*
 * Random content of a bitmap index: the whole bitmaps, and how each of them is
 * stored.
 */
struct sample {
	struct bitset sets[ENTRIES];
	struct ewah types[BITMAP_TYPE_NR];
	struct ewah stored[ENTRIES];
	struct bitmap_write_entry entries[ENTRIES];
	uint32_t hash_cache[BITS];
	struct bitmap_write w;
};

static void random_set(struct bitset *set, uint64_t *seed)
{
	assert_int_equal(bitset_init(set, BITS), 0);
	for (size_t i = 0; i < BITS; i++)
		if (random_next(seed) % 4)
			bitset_set(set, i);
}

static void sample_entry(struct sample *s, uint32_t i, uint64_t *seed)
{
	struct bitset stored = BITSET_INIT;
	uint32_t back = (uint32_t)(random_next(seed) % 20);

	random_set(&s->sets[i], seed);
	assert_int_equal(bitset_copy(&stored, &s->sets[i]), 0);
	back = back > i ? 0 : back;
	if (back)
		bitset_xor(&stored, &s->sets[i - back]);
	ewah_init(&s->stored[i]);
	assert_int_equal(ewah_from_bitset(&s->stored[i], &stored), 0);
	bitset_release(&stored);
	s->entries[i] = (struct bitmap_write_entry){
		.idx_pos = (i * 37 + 11) % BITS, /* each once, in no order */
		.xor_offset = (uint8_t)back,
		.bitmap = &s->stored[i],
	};
}

static void sample_init(struct sample *s, enum hash_algo algo, uint64_t *seed)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < BITMAP_TYPE_NR; i++) {
		ewah_init(&s->types[i]);
		for (size_t bit = (size_t)i; bit < BITS; bit += 4)
			assert_int_equal(ewah_set(&s->types[i], bit), 0);
	}
	for (uint32_t i = 0; i < ENTRIES; i++)
		sample_entry(s, i, seed);
	for (uint32_t i = 0; i < BITS; i++)
		s->hash_cache[i] = (uint32_t)random_next(seed);
	s->w = (struct bitmap_write){
		.algo = algo,
		.object_nr = BITS,
		.types = s->types,
		.entries = s->entries,
		.entry_nr = ENTRIES,
	};
	memset(s->w.checksum.bytes, 0x5a, hash_len(algo));
}

static void sample_release(struct sample *s)
{
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_release(&s->types[i]);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		bitset_release(&s->sets[i]);
		ewah_release(&s->stored[i]);
	}
}

static void check_rows(const struct sample *s, const struct bitmap_file *f)
{
	struct bitset scratch = BITSET_INIT;
	uint32_t last = 0, row;

	assert_int_equal(f->row_nr, ENTRIES);
	for (row = 0; row < ENTRIES; row++) {
		uint32_t idx_pos = bitmap_file_row(f, row).idx_pos;

		assert_true(!row || idx_pos > last);
		last = idx_pos;
	}
	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct bitset set;

		assert_int_equal(bitset_init(&set, BITS), 0);
		assert_true(bitmap_file_find(f, s->entries[i].idx_pos, &row));
		assert_int_equal(bitmap_file_or(&set, f, row, &scratch, NULL),
				 0);
		assert_true(bitset_equal(&set, &s->sets[i]));
		bitset_release(&set);
	}
	bitset_release(&scratch);
}

/* A set of whole bitmaps. */
struct holding {
	const struct sample *s;
	struct bitset set;
};

static bool holds(void *ctx, uint32_t idx_pos)
{
	const struct holding *h = ctx;

	for (uint32_t i = 0; i < ENTRIES; i++)
		if (h->s->entries[i].idx_pos == idx_pos)
			return bitset_count_and(&h->s->sets[i], &h->set) ==
			       bitset_count(&h->s->sets[i]);
	fail();
	return false;
}

/*
 * ORs the bitmaps of the file into a set, one after the other. The set keeps
 * the bits of all earlier bitmaps. After each OR, compares the set with the
 * expected one.
 */
static void check_rest(const struct sample *s, const struct bitmap_file *f)
{
	struct bitset expected, scratch = BITSET_INIT;
	struct holding h = {.s = s};

	assert_int_equal(bitset_init(&h.set, BITS), 0);
	assert_int_equal(bitset_init(&expected, BITS), 0);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		uint32_t at = i * 7 % ENTRIES, row;
		struct bitmap_held held = {!i, holds, &h};

		assert_true(bitmap_file_find(f, s->entries[at].idx_pos, &row));
		assert_int_equal(bitmap_file_or_rest(&h.set, f, row, &held,
						     &scratch, NULL),
				 0);
		bitset_or(&expected, &s->sets[at]);
		assert_true(bitset_equal(&h.set, &expected));
	}
	bitset_release(&h.set);
	bitset_release(&expected);
	bitset_release(&scratch);
}

static void check(const struct sample *s)
{
	struct bitmap_file f;
	struct buf out = BUF_INIT;

	assert_int_equal(buf_append_str(&out, "before"), 0);
	assert_int_equal(bitmap_file_write(&out, &s->w, NULL), 0);
	assert_int_equal(bitmap_file_parse(&f, out.data + 6, out.len - 6, BITS,
					   s->w.algo, "written", NULL),
			 0);
	assert_int_equal(bitmap_file_verify(&f, NULL), 0);
	assert_memory_equal(f.checksum, s->w.checksum.bytes,
			    hash_len(s->w.algo));
	assert_int_equal(f.lookup != NULL, s->w.lookup_table);
	assert_int_equal(f.hash_cache != NULL, s->w.hash_cache != NULL);
	for (uint32_t i = 0; i < BITS; i++) {
		assert_int_equal(bitmap_file_name_hash(&f, i),
				 s->w.hash_cache ? s->hash_cache[i] : 0);
		assert_true(ewah_test(&f.types[i % 4], i));
	}
	check_rows(s, &f);
	check_rest(s, &f);
	bitmap_file_release(&f);
	buf_release(&out);
}

static void all_layouts(void **state)
{
	static const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};
	uint64_t seed = random_seed();

	for (size_t i = 0; i < ARRAY_NR(algos); i++) {
		struct sample s;

		sample_init(&s, algos[i], &seed);
		for (int tables = 0; tables < 4; tables++) {
			s.w.lookup_table = tables & 1;
			s.w.hash_cache = tables & 2 ? s.hash_cache : NULL;
			check(&s);
		}
		sample_release(&s);
	}
}

static void no_entries(void **state)
{
	struct ewah types[BITMAP_TYPE_NR];
	struct bitmap_write w = {.algo = HASH_SHA1, .types = types};

	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_init(&types[i]);
	for (int lookup = 0; lookup < 2; lookup++) {
		struct buf out = BUF_INIT;
		struct bitmap_file f;

		w.lookup_table = lookup;
		assert_int_equal(bitmap_file_write(&out, &w, NULL), 0);
		assert_int_equal(bitmap_file_parse(&f, out.data, out.len, 0,
						   HASH_SHA1, "none", NULL),
				 0);
		assert_int_equal(f.row_nr, 0);
		assert_false(bitmap_file_find(&f, 0, &(uint32_t){0}));
		bitmap_file_release(&f);
		buf_release(&out);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_layouts),
		cmocka_unit_test(no_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
