/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/tip-select.c, which selects commits near tips for bitmaps:
 * after the selection, no request for one tip walks far. Few commits are
 * selected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/tip-select.h"
#include "t/unit/dag.h"

#define MOST_COMMITS 6000

struct sample {
	struct dag d;
	uint32_t commits[MOST_COMMITS];
	uint8_t has_bitmap[MOST_COMMITS], is_tip[MOST_COMMITS];
	enum select_tip first, last;
};

static struct sample *sample_new(void)
{
	struct sample *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	dag_init(&s->d);
	for (uint32_t i = 0; i < MOST_COMMITS; i++)
		s->commits[i] = i;
	s->first = SELECT_BRANCH;
	s->last = SELECT_NEW_BRANCH;
	return s;
}

static void sample_free(struct sample *s)
{
	dag_release(&s->d);
	free(s);
}

static uint32_t add(struct sample *s, uint32_t parent)
{
	uint32_t nr = (uint32_t)s->d.h.nr;

	return dag_add(&s->d, 1000 + nr, false, &parent, nr > 0);
}

/* Adds a chain of `nr` commits on top of `parent`. Returns the newest one. */
static uint32_t add_line(struct sample *s, uint32_t parent, uint32_t nr)
{
	while (nr--)
		parent = add(s, parent);
	return parent;
}

static size_t select_tips(struct sample *s, size_t most)
{
	const struct tip_select_input in = {
		.history = &s->d.h,
		.commits = s->commits,
		.commit_nr = s->d.h.nr,
		.is_tip = s->is_tip,
		.first = s->first,
		.last = s->last,
		.most = most,
	};
	size_t nr, before = 0, after = 0;

	for (size_t c = 0; c < s->d.h.nr; c++)
		before += s->has_bitmap[c];
	assert_int_equal(tip_select(s->has_bitmap, &nr, &in, NULL), 0);
	for (size_t c = 0; c < s->d.h.nr; c++)
		after += s->has_bitmap[c];
	assert_int_equal(after - before, nr);
	assert_true(nr <= most);
	return nr;
}

static uint32_t walked(const struct sample *s, uint32_t tip)
{
	struct tip_walk walk;
	uint32_t nr;

	assert_int_equal(tip_walk_init(&walk, &s->d.h, s->commits, s->d.h.nr,
				       s->has_bitmap),
			 0);
	tip_walk_count(&walk, &nr, &tip, 1);
	tip_walk_release(&walk);
	return nr;
}

static uint32_t count_reached(const struct sample *s, uint32_t tip)
{
	static bool seen[MOST_COMMITS];
	uint32_t nr = 0;

	memset(seen, 0, sizeof(seen));
	dag_ancestors(&s->d, seen, tip);
	for (uint32_t c = 0; c < s->d.h.nr; c++)
		nr += seen[c];
	return nr;
}

/*
 * If the number of bitmaps is not limited, each tip of a wanted kind must be
 * near a bitmap.
 */
static void no_far_tips(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 12; round++) {
		struct sample *s = sample_new();
		uint32_t nr = 100 + (uint32_t)(random_next(&seed) % 2000);

		dag_random(&s->d, nr, false, &seed);
		for (uint32_t c = 0; c < nr; c++) {
			s->is_tip[c] = (uint8_t)(random_next(&seed) % 40);
			if (s->is_tip[c] > SELECT_TIP)
				s->is_tip[c] = SELECT_NO_TIP;
			s->has_bitmap[c] = random_next(&seed) % 100 == 0;
		}
		s->first = round % 2 ? SELECT_REF : SELECT_BRANCH;
		select_tips(s, SIZE_MAX);
		for (uint32_t c = 0; c < nr; c++)
			if (s->is_tip[c] >= s->first && s->is_tip[c] <= s->last)
				assert_true(walked(s, c) * TIP_SELECT_PART <=
					    count_reached(s, c));
		assert_int_equal(select_tips(s, SIZE_MAX), 0);
		sample_free(s);
	}
}

/*
 * Ten branches start near each other, far from any bitmap. One new bitmap on
 * the main line is enough for all of them.
 */
static void one_for_many(void **state)
{
	struct sample *s = sample_new();
	uint32_t main = add_line(s, 0, 4000);

	for (uint32_t i = 0; i < 10; i++)
		s->is_tip[add(s, main - i)] = SELECT_BRANCH;
	assert_int_equal(select_tips(s, SIZE_MAX), 1);
	for (uint32_t c = main + 1; c < s->d.h.nr; c++) {
		assert_false(s->has_bitmap[c]);
		assert_in_range(walked(s, c), 1, 4000 / TIP_SELECT_PART);
	}
	sample_free(s);
}

/* If a bitmap is useful for only one branch, the tip of the branch gets it. */
static void single_tips(void **state)
{
	struct sample *s = sample_new();
	uint32_t main = add_line(s, 0, 2000);
	uint32_t one = add_line(s, main - 1500, 300);
	uint32_t two = add_line(s, main - 700, 600);

	s->is_tip[one] = SELECT_BRANCH;
	s->is_tip[two] = SELECT_NEW_BRANCH;
	s->is_tip[main - 1000] = SELECT_REF;
	assert_int_equal(select_tips(s, SIZE_MAX), 2);
	assert_true(s->has_bitmap[one] && s->has_bitmap[two]);
	sample_free(s);
}

/*
 * If the number of bitmaps is limited, those bitmaps are chosen with which
 * fetches walk the fewest commits.
 */
static void limited(void **state)
{
	struct sample *s = sample_new();
	uint32_t main = add_line(s, 0, 1000), tips[20];

	s->has_bitmap[main] = 1;
	for (uint32_t i = 0; i < 20; i++) {
		tips[i] = add_line(s, main, 20 + 10 * (i * 7 % 20));
		s->is_tip[tips[i]] = SELECT_BRANCH;
	}
	assert_int_equal(select_tips(s, 0), 0);
	assert_int_equal(select_tips(s, 5), 5);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(s->has_bitmap[tips[i]], i * 7 % 20 >= 15);
	sample_free(s);
}

/*
 * If only one bitmap is allowed, the longer of two branches gets it, although
 * the other branch is further from the root.
 */
static void longest_first(void **state)
{
	struct sample *s = sample_new();
	uint32_t main = add_line(s, 0, 1000);
	uint32_t longer = add_line(s, main - 500, 300);
	uint32_t shorter = add_line(s, main, 200);

	s->has_bitmap[main] = s->has_bitmap[main - 500] = 1;
	s->is_tip[longer] = s->is_tip[shorter] = SELECT_BRANCH;
	assert_int_equal(select_tips(s, 1), 1);
	assert_true(s->has_bitmap[longer]);
	sample_free(s);
}

/*
 * Each tip is a merge of the main line with a long side branch of its own. A
 * bitmap on the main line does not cover the side branch. So each tip gets a
 * bitmap.
 */
static void merges(void **state)
{
	struct sample *s = sample_new();
	uint32_t main = add_line(s, 0, 3000), tips[3];

	s->has_bitmap[main] = 1;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t side = add_line(s, main - 100, 500);
		uint32_t parents[] = {main, side};

		tips[i] = dag_add(&s->d, 9000 + i, false, parents, 2);
		s->is_tip[tips[i]] = SELECT_BRANCH;
	}
	assert_int_equal(walked(s, tips[0]), 501);
	select_tips(s, SIZE_MAX);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(walked(s, tips[i]), 0);
	sample_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_far_tips), cmocka_unit_test(one_for_many),
		cmocka_unit_test(single_tips), cmocka_unit_test(limited),
		cmocka_unit_test(merges),      cmocka_unit_test(longest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
