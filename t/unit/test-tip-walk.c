/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/tip-walk.c. If a client wants one tip, the server must walk
 * the commits of the tip's history that no bitmap of this history contains. The
 * tested code counts these commits for each tip. The counts are compared with
 * slow walks over random histories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/tip-select.h"
#include "t/unit/dag.h"

#define COMMITS 700
#define TIPS 600

struct sample {
	struct dag d;
	uint32_t commits[COMMITS];
	uint8_t has_bitmap[COMMITS];
	uint32_t tips[TIPS], walked[TIPS];
};

static void sample_init(struct sample *s, uint64_t *seed)
{
	uint32_t one_of = 1 + (uint32_t)(random_next(seed) % 60);

	dag_init(&s->d);
	dag_random(&s->d, COMMITS, false, seed);
	for (uint32_t i = 0; i < COMMITS; i++) {
		s->commits[i] = i;
		s->has_bitmap[i] = random_next(seed) % one_of == 0;
	}
	for (size_t i = 0; i < TIPS; i++)
		s->tips[i] = (uint32_t)(random_next(seed) % COMMITS);
}

/*
 * Returns the number of commits that `tip` reaches and no bitmap covers. A
 * bitmap counts only if `tip` reaches the bitmap's commit. The bitmap covers
 * this commit and all ancestors of the commit.
 */
static uint32_t slow_count(const struct sample *s, uint32_t tip)
{
	bool reached[COMMITS] = {false}, covered[COMMITS] = {false};
	uint32_t nr = 0;

	dag_ancestors(&s->d, reached, tip);
	for (uint32_t c = 0; c < COMMITS; c++)
		if (reached[c] && s->has_bitmap[c])
			dag_ancestors(&s->d, covered, c);
	for (uint32_t c = 0; c < COMMITS; c++)
		nr += reached[c] && !covered[c];
	return nr;
}

static void counts(void **state)
{
	struct sample *s = calloc(1, sizeof(*s));
	uint64_t seed = random_seed();

	assert_non_null(s);
	for (int round = 0; round < 20; round++) {
		struct tip_walk walk;

		sample_init(s, &seed);
		assert_int_equal(tip_walk_init(&walk, &s->d.h, s->commits,
					       COMMITS, s->has_bitmap),
				 0);
		/*
		 * Several counts use the same struct. No count may change the
		 * result of the next one.
		 */
		for (size_t nr = TIPS; nr; nr /= 7) {
			tip_walk_count(&walk, s->walked, s->tips, nr);
			for (size_t i = 0; i < nr; i++)
				assert_int_equal(s->walked[i],
						 slow_count(s, s->tips[i]));
			s->has_bitmap[s->tips[nr - 1]] = 1;
		}
		tip_walk_release(&walk);
		dag_release(&s->d);
	}
	free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
