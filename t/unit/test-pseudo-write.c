/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/pseudo-write.c, which writes the section of pseudo-merges of
 * a bitmap index: parsing it gives the same pseudo-merges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/file-write.h"
#include "t/unit/hexdump.h"
#include "t/unit/random.h"

#define BITS 200
#define MERGES 12

struct sample {
	struct bitset sets[MERGES][2]; /* commits, objects */
	struct ewah ewahs[MERGES][2];
	struct bitmap_write_pseudo pseudo[MERGES];
	uint32_t nr;
};

/*
 * Makes random sets of commits. Each commit is in a set with a probability of
 * rate / 64.
 */
static void sample_init(struct sample *s, uint32_t nr, unsigned rate,
			uint64_t *seed)
{
	s->nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		for (int k = 0; k < 2; k++) {
			assert_int_equal(bitset_init(&s->sets[i][k], BITS), 0);
			ewah_init(&s->ewahs[i][k]);
			for (size_t bit = 0; bit < BITS; bit++)
				if (random_next(seed) % 64 < rate) {
					bitset_set(&s->sets[i][k], bit);
					assert_int_equal(
						ewah_set(&s->ewahs[i][k], bit),
						0);
				}
		}
		s->pseudo[i] = (struct bitmap_write_pseudo){
			&s->ewahs[i][0],
			&s->ewahs[i][1],
		};
	}
}

static void sample_release(struct sample *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		for (int k = 0; k < 2; k++) {
			bitset_release(&s->sets[i][k]);
			ewah_release(&s->ewahs[i][k]);
		}
}

static int note(void *ctx, uint32_t nr)
{
	bool *found = ctx;

	assert_false(found[nr]);
	found[nr] = true;
	return 0;
}

static void check(const struct sample *s, const struct pseudo_merges *pm)
{
	assert_int_equal(pm->nr, s->nr);
	assert_int_equal(pseudo_merges_verify(pm, NULL), 0);
	for (uint32_t bit = 0; bit < BITS; bit++) {
		bool found[MERGES] = {false};

		assert_int_equal(
			pseudo_merges_each_of(pm, bit, note, found, NULL), 0);
		for (uint32_t i = 0; i < s->nr; i++) {
			struct pseudo_merge merge;

			assert_int_equal(
				pseudo_merges_view(&merge, pm, i, NULL), 0);
			assert_int_equal(found[i],
					 bitset_test(&s->sets[i][0], bit));
			assert_int_equal(ewah_test(&merge.commits, bit),
					 found[i]);
			assert_int_equal(ewah_test(&merge.objects, bit),
					 bitset_test(&s->sets[i][1], bit));
		}
	}
}

static void random_sections(void **state)
{
	static const unsigned rates[] = {0, 1, 4, 20, 60};
	uint64_t seed = random_seed();

	for (int i = 0; i < 100; i++) {
		size_t before = random_next(&seed) % 9, base = 3;
		struct buf out = BUF_INIT;
		struct pseudo_merges pm;
		struct sample s;

		sample_init(&s, (uint32_t)(1 + random_next(&seed) % MERGES),
			    rates[i % 5], &seed);
		for (size_t k = 0; k < base + before; k++)
			assert_int_equal(buf_append_char(&out, 'x'), 0);
		assert_int_equal(
			pseudo_merges_write(&out, base, s.pseudo, s.nr), 0);
		assert_int_equal(pseudo_merges_parse(&pm, out.data + base,
						     before, out.len - base,
						     BITS, "x", NULL),
				 0);
		assert_int_equal(pm.start, before);
		check(&s, &pm);
		sample_release(&s);
		buf_release(&out);
	}
}

/* The bytes of the example in bitmap/pseudo-merge.h. */
static const char example[] =
	"00000002 00000002 00000002 00000000 00000000 00000003 00000000\n"
	"00000004 00000002 00000002 00000000 00000000 0000000f 00000000\n"
	"00000005 00000002 00000002 00000000 00000000 00000012 00000000\n"
	"00000006 00000002 00000002 00000000 00000000 0000003e 00000000\n"
	"00000000 00000000 00000000 00000001 80000000 00000094\n"
	"00000004 00000000 00000038\n"
	"00000002 00000000 00000000 00000000 00000038\n"
	"00000000 00000000 00000000 00000038\n"
	"00000002 00000003\n"
	"00000000 00000070 00000000 000000d0\n";

static void set_bits(struct ewah *e, unsigned bits)
{
	ewah_init(e);
	for (unsigned i = 0; i < 32; i++)
		if (bits >> i & 1)
			assert_int_equal(ewah_set(e, i), 0);
}

static void the_example(void **state)
{
	static const unsigned bits[2][2] = {{0x3, 0xf}, {0x12, 0x3e}};
	struct bitmap_write_pseudo pseudo[2];
	struct buf out = BUF_INIT, expect = BUF_INIT;
	struct ewah sets[2][2];

	for (int i = 0; i < 2; i++) {
		set_bits(&sets[i][0], bits[i][0]);
		set_bits(&sets[i][1], bits[i][1]);
		pseudo[i] = (struct bitmap_write_pseudo){&sets[i][0],
							 &sets[i][1]};
	}
	hexdump_parse(&expect, example);
	assert_int_equal(pseudo_merges_write(&out, 0, pseudo, 2), 0);
	assert_int_equal(out.len, expect.len);
	assert_memory_equal(out.data, expect.data, out.len);
	for (int i = 0; i < 2; i++) {
		ewah_release(&sets[i][0]);
		ewah_release(&sets[i][1]);
	}
	buf_release(&out);
	buf_release(&expect);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sections),
		cmocka_unit_test(the_example),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
