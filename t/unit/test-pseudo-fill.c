/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/pseudo-fill.c, which completes a set of objects with
 * pseudo-merges. It must use the same pseudo-merges as a search through all of
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/file-write.h"
#include "bitmap/pseudo-merge.h"
#include "t/unit/random.h"

#define BITS 300
#define MERGES 10

struct sample {
	struct ewah commits[MERGES], objects[MERGES];
	struct bitmap_write_pseudo pseudo[MERGES];
	struct buf bytes;
	struct pseudo_merges pm;
};

/*
 * Makes a pseudo-merge of a few random commits. These commits are also among
 * its objects.
 */
static void random_merge(struct sample *s, int i, uint64_t *seed)
{
	uint64_t reach = random_next(seed) % 8;

	ewah_init(&s->commits[i]);
	ewah_init(&s->objects[i]);
	for (size_t bit = 0; bit < BITS; bit++) {
		bool is_commit = bit < 40 && random_next(seed) % 16 == 0;

		if (is_commit)
			assert_int_equal(ewah_set(&s->commits[i], bit), 0);
		if (is_commit || random_next(seed) % 16 < reach)
			assert_int_equal(ewah_set(&s->objects[i], bit), 0);
	}
	s->pseudo[i] = (struct bitmap_write_pseudo){&s->commits[i],
						    &s->objects[i]};
}

static void sample_init(struct sample *s, uint64_t *seed)
{
	buf_init(&s->bytes);
	for (int i = 0; i < MERGES; i++)
		random_merge(s, i, seed);
	assert_int_equal(pseudo_merges_write(&s->bytes, 0, s->pseudo, MERGES),
			 0);
	assert_int_equal(pseudo_merges_parse(&s->pm, s->bytes.data, 0,
					     s->bytes.len, BITS, "x", NULL),
			 0);
}

static void sample_release(struct sample *s)
{
	for (int i = 0; i < MERGES; i++) {
		ewah_release(&s->commits[i]);
		ewah_release(&s->objects[i]);
	}
	buf_release(&s->bytes);
}

/*
 * A pseudo-merge can be used if at least one of its commits is in `noted`, and
 * all of its commits are in `noted` or `reached`. Adds the objects of such
 * pseudo-merges to `reached`, until no further one can be used. Returns the
 * number of used pseudo-merges.
 */
static uint32_t all_that_serve(const struct sample *s, struct bitset *reached,
			       const struct bitset *noted)
{
	bool used[MERGES] = {false};
	uint32_t nr = 0, before;

	do {
		before = nr;
		for (int i = 0; i < MERGES; i++) {
			bool all = true, any = false;

			for (size_t bit = 0; bit < 40; bit++) {
				struct ewah_view v = ewah_view_of(
					&s->commits[i]);

				if (!ewah_test(&v, bit))
					continue;
				any |= bitset_test(noted, bit);
				all &= bitset_test(noted, bit) ||
				       bitset_test(reached, bit);
			}
			if (any && all && !used[i]) {
				struct ewah_view v = ewah_view_of(
					&s->objects[i]);

				ewah_or_into(reached, &v);
				used[i] = true;
				nr++;
			}
		}
	} while (nr > before);
	return nr;
}

static void random_requests(void **state)
{
	uint64_t seed = random_seed();
	uint32_t served = 0;

	for (int i = 0; i < 600; i++) {
		struct bitset reached, expect = BITSET_INIT, noted;
		struct pseudo_fill pf;
		struct sample s;
		uint32_t expect_nr = 0;

		sample_init(&s, &seed);
		assert_int_equal(bitset_init(&reached, BITS), 0);
		assert_int_equal(bitset_init(&noted, BITS), 0);
		pseudo_fill_init(&pf, &s.pm);
		/*
		 * Complete the set in two rounds. The objects that the first
		 * round has reached stay in `reached`.
		 */
		for (int round = 0; round < 2; round++) {
			for (uint32_t bit = 0; bit < 40; bit++) {
				uint64_t luck = random_next(&seed) % 8;

				if (luck == 0)
					bitset_set(&reached, bit);
				if (luck < 3)
					continue;
				bitset_set(&noted, bit);
				assert_int_equal(
					pseudo_fill_note(&pf, bit, NULL), 0);
			}
			assert_int_equal(bitset_copy(&expect, &reached), 0);
			expect_nr = all_that_serve(&s, &expect, &noted);
			assert_int_equal(pseudo_fill_run(&pf, &reached, NULL),
					 0);
			assert_true(bitset_equal(&reached, &expect));
		}
		assert_int_equal(pf.used, expect_nr);
		served += pf.used;
		pseudo_fill_release(&pf);
		bitset_release(&reached);
		bitset_release(&expect);
		bitset_release(&noted);
		sample_release(&s);
	}
	assert_true(served > 100);
}

/* If the index has no pseudo-merges, no memory is needed. */
static void none(void **state)
{
	struct pseudo_merges pm = {0};
	struct bitset reached = BITSET_INIT;
	struct pseudo_fill pf;

	pseudo_fill_init(&pf, &pm);
	assert_int_equal(pseudo_fill_note(&pf, 5, NULL), 0);
	assert_int_equal(pseudo_fill_run(&pf, &reached, NULL), 0);
	assert_null(pf.noted.words);
	assert_int_equal(pf.used, 0);
	pseudo_fill_release(&pf);
}

static void broken_ones(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct bitset reached;
	struct pseudo_fill pf;
	struct sample s;
	int ret = 0;

	sample_init(&s, &seed);
	assert_int_equal(bitset_init(&reached, BITS), 0);
	memset(s.bytes.data + 8, 0xff, 8); /* a running-length word */
	pseudo_fill_init(&pf, &s.pm);
	for (uint32_t bit = 0; bit < 40; bit++)
		assert_int_equal(pseudo_fill_note(&pf, bit, NULL), 0);
	ret = pseudo_fill_run(&pf, &reached, &err);
	if (s.commits[0].word_nr)
		assert_int_equal(ret, ERR_CORRUPT);
	pseudo_fill_release(&pf);
	bitset_release(&reached);
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_requests),
		cmocka_unit_test(none),
		cmocka_unit_test(broken_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
