/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/complete.c, the cache of whole bitmaps for bitmaps that are
 * stored as XORs. They prove that the cache returns the right bitmap, whether
 * the bitmap was kept or must be computed again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "bitmap/build.h"
#include "t/unit/random.h"

#define ENTRIES 200
#define BITS 3000

struct sample {
	struct bitset sets[ENTRIES]; /* the right bitmaps */
	struct bitmap_built entries[ENTRIES];
	struct bitset scratch;
	struct bitmap_complete complete;
};

static void sample_init(struct sample *s, size_t limit)
{
	memset(s, 0, sizeof(*s));
	assert_int_equal(bitset_init(&s->scratch, BITS), 0);
	assert_int_equal(bitmap_complete_init(&s->complete, s->entries, ENTRIES,
					      limit, &s->scratch),
			 0);
}

static void sample_release(struct sample *s)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		bitset_release(&s->sets[i]);
		ewah_release(&s->entries[i].bitmap);
	}
	bitset_release(&s->scratch);
	bitmap_complete_release(&s->complete);
}

/*
 * Adds bitmap `i` with some random bits. The bitmap is stored whole, or as an
 * XOR with an earlier bitmap.
 */
static void add(struct sample *s, size_t i, uint64_t *seed)
{
	size_t back = random_next(seed) % 4 && i
			      ? 1 + random_next(seed) % (i < 40 ? i : 40)
			      : 0;
	struct bitset stored;
	struct ewah full;

	assert_int_equal(bitset_init(&s->sets[i], BITS), 0);
	for (unsigned k = 0; k < 30; k++)
		bitset_set(&s->sets[i], random_next(seed) % BITS);
	assert_int_equal(bitset_init(&stored, BITS), 0);
	assert_int_equal(bitset_copy(&stored, &s->sets[i]), 0);
	if (back)
		bitset_xor(&stored, &s->sets[i - back]);
	ewah_init(&full);
	assert_int_equal(ewah_from_bitset(&full, &s->sets[i]), 0);
	assert_int_equal(ewah_from_bitset(&s->entries[i].bitmap, &stored), 0);
	s->entries[i].xor_offset = (uint8_t)back;
	if (back)
		bitmap_complete_put(&s->complete, i, &full);
	ewah_release(&full);
	bitset_release(&stored);
}

/*
 * Returns the number of bytes of the kept bitmaps. The newest bitmaps, which
 * are always kept, and bitmap `but` are not counted.
 */
static size_t bytes_of_old(const struct sample *s, size_t but)
{
	size_t bytes = 0;

	for (size_t i = 0; i + BITMAP_COMPLETE_NEWEST < s->complete.end; i++)
		if (i != but)
			bytes += s->complete.kept[i].word_alloc *
				 sizeof(uint64_t);
	return bytes;
}

/*
 * Checks the memory limit, after the cache has kept bitmap `i`. Bitmap `i` and
 * the newest bitmaps always stay in memory. So if no other bitmap is kept, the
 * kept bitmaps may exceed the limit. If any other bitmap is kept, all kept
 * bitmaps together must be within the limit.
 */
static void check_limit(const struct sample *s, size_t i)
{
	assert_true(!s->complete.limit ||
		    s->complete.bytes <= s->complete.limit ||
		    !bytes_of_old(s, i));
}

static void check(struct sample *s, size_t i)
{
	bool is_made = s->entries[i].xor_offset && !s->complete.kept[i].words;
	struct ewah_view view;
	struct bitset got;

	assert_int_equal(bitmap_complete_get(&s->complete, i, &view), 0);
	assert_int_equal(bitset_init(&got, BITS), 0);
	ewah_or_into(&got, &view);
	assert_true(bitset_equal(&got, &s->sets[i]));
	bitset_release(&got);
	if (is_made)
		check_limit(s, i);
}

static void kept_or_made_again(void **state)
{
	static const size_t limits[] = {0, 1, 4000, 40000};
	uint64_t seed = random_seed();

	for (size_t l = 0; l < ARRAY_NR(limits); l++) {
		struct sample s;

		sample_init(&s, limits[l]);
		for (size_t i = 0; i < ENTRIES; i++) {
			add(&s, i, &seed);
			if (s.entries[i].xor_offset)
				check_limit(&s, i);
			for (unsigned k = 0; k < 5; k++)
				check(&s, random_next(&seed) % (i + 1));
		}
		sample_release(&s);
	}
}

/*
 * The entries of a bitmap index, which store bitmaps whole or as XORs, exist
 * before the cache of whole bitmaps is made. No bitmap is put into the cache.
 * So the cache must compute each bitmap from the entries.
 */
static void never_put(void **state)
{
	uint64_t seed = random_seed();
	struct sample s;

	sample_init(&s, 1);
	for (size_t i = 0; i < ENTRIES; i++)
		add(&s, i, &seed);
	bitmap_complete_release(&s.complete);
	assert_int_equal(bitmap_complete_init(&s.complete, s.entries, ENTRIES,
					      1, &s.scratch),
			 0);
	for (unsigned k = 0; k < 1000; k++)
		check(&s, random_next(&seed) % ENTRIES);
	sample_release(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_or_made_again),
		cmocka_unit_test(never_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
