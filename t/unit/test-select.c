/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/select.c, which selects the commits that get bitmaps: tips
 * and merges are preferred, and the distances between selected commits are
 * limited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/select.h"
#include "t/unit/dag.h"

#define DENSE_NR SELECT_MAX_DENSE_NR

/* A history, its commits from the newest to the oldest, and its tips. */
struct sample {
	struct dag d;
	uint32_t *commits, *parents_first;
	uint8_t *is_tip;
	uint32_t nr;
	size_t dense_nr;
	uint32_t *selected;
	size_t selected_nr;
};

static void sample_init(struct sample *s, uint32_t nr)
{
	memset(s, 0, sizeof(*s));
	dag_init(&s->d);
	s->nr = nr;
	s->commits = calloc(nr + 1, sizeof(*s->commits));
	s->parents_first = calloc(nr + 1, sizeof(*s->parents_first));
	s->is_tip = calloc(nr + 1, 1);
	s->dense_nr = DENSE_NR;
	assert_true(s->commits && s->parents_first && s->is_tip);
	for (uint32_t i = 0; i < nr; i++) {
		s->commits[i] = nr - 1 - i;
		s->parents_first[i] = i;
	}
}

static void sample_select(struct sample *s)
{
	const struct bitmap_select_input in = {
		.history = &s->d.h,
		.commits = s->commits,
		.parents_first = s->parents_first,
		.nr = s->nr,
		.dense_nr = s->dense_nr,
		.is_tip = s->is_tip,
	};

	free(s->selected);
	s->selected = NULL;
	assert_int_equal(
		bitmap_select(&s->selected, &s->selected_nr, &in, NULL), 0);
}

static void sample_release(struct sample *s)
{
	free(s->selected);
	free(s->commits);
	free(s->parents_first);
	free(s->is_tip);
	dag_release(&s->d);
}

/*
 * Makes a linear history of `nr` commits. Every `merge`-th commit is a merge:
 * its grandparent is also its second parent. `merge` 0: no merges.
 */
static void linear(struct sample *s, uint32_t nr, uint32_t merge)
{
	sample_init(s, nr);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t parents[2] = {i - 1, i - 2};
		uint32_t n = merge && i > 1 && i % merge == 0 ? 2 : 1;

		dag_add(&s->d, 1000 + i, false, parents, i ? n : 0);
	}
}

/*
 * Returns the largest number of commits in [from, to) that a query must walk
 * until it meets a selected commit.
 */
static uint32_t longest_gap(const struct sample *s, uint32_t from, uint32_t to)
{
	uint32_t gap = 0, longest = 0;
	size_t k = 0;

	for (uint32_t i = 0; i < to; i++) {
		while (k < s->selected_nr && s->selected[k] > s->commits[i])
			k++;
		gap = k < s->selected_nr && s->selected[k] == s->commits[i]
			      ? 0
			      : gap + 1;
		if (i >= from && gap > longest)
			longest = gap;
	}
	return longest;
}

static void nothing(void **state)
{
	struct sample s;

	sample_init(&s, 0);
	sample_select(&s);
	assert_int_equal(s.selected_nr, 0);
	sample_release(&s);
}

static void dense_near_the_newest(void **state)
{
	struct sample s;

	linear(&s, 20000, 0);
	sample_select(&s);
	for (uint32_t i = 0; i < DENSE_NR; i++)
		assert_int_equal(s.selected[i], s.commits[i]);
	for (size_t i = 1; i < s.selected_nr; i++)
		assert_true(s.selected[i] < s.selected[i - 1]);
	/*
	 * The distance between selected commits grows with the distance from
	 * the newest commit.
	 */
	for (uint32_t i = 100; i < s.nr; i *= 2)
		assert_true(longest_gap(&s, 0, i) <= 2 * (i / DENSE_NR + 1));
	assert_true(s.selected_nr < 8 * DENSE_NR);
	assert_true(s.selected_nr > 2 * DENSE_NR);
	sample_release(&s);
}

static void gaps_have_an_end(void **state)
{
	struct sample s;

	linear(&s, 3 * 8 * SELECT_MAX_GAP, 0);
	s.dense_nr = 8;
	sample_select(&s);
	assert_true(longest_gap(&s, 0, s.nr) < 2 * SELECT_MAX_GAP);
	sample_release(&s);
}

static void tips_are_always_taken(void **state)
{
	uint64_t seed = random_seed();
	struct sample s;
	size_t without;

	sample_init(&s, 5000);
	dag_random(&s.d, s.nr, false, &seed);
	sample_select(&s);
	without = s.selected_nr;
	for (uint32_t i = 0; i < s.nr; i++)
		s.is_tip[i] = random_next(&seed) % 10 ? SELECT_NO_TIP
						      : SELECT_TIP;
	sample_select(&s);
	assert_true(s.selected_nr > without);
	for (uint32_t i = 0, k = 0; i < s.nr; i++) {
		uint32_t c = s.commits[i];

		if (k < s.selected_nr && s.selected[k] == c)
			k++;
		else
			assert_false(s.is_tip[c]);
	}
	/* If all commits are tips (SELECT_TIP), all of them are selected. */
	for (uint32_t i = 0; i < s.nr; i++)
		s.is_tip[i] = SELECT_TIP;
	sample_select(&s);
	assert_int_equal(s.selected_nr, s.nr);
	sample_release(&s);
}

static void merges_are_preferred(void **state)
{
	struct sample s;
	size_t merges = 0, sparse = 0;

	linear(&s, 50000, 7);
	sample_select(&s);
	for (size_t i = 0; i < s.selected_nr; i++) {
		uint32_t c = s.selected[i];

		/*
		 * The history is divided into gaps (ranges of successive
		 * commits). One commit of each gap is selected, and a merge is
		 * preferred. Every seventh commit is a merge. So if a gap has
		 * seven commits or more, the selected commit must be a merge.
		 *
		 * Gaps are longer in older history. Skip the newest 16 *
		 * DENSE_NR commits, whose gaps may have fewer commits. In the
		 * older history, only the oldest gap may have fewer commits,
		 * because the history ends.
		 */
		if (c > s.nr - 16 * DENSE_NR)
			continue;
		sparse++;
		merges += s.d.h.commits[c].parent_nr > 1;
	}
	assert_true(sparse > 100);
	assert_true(merges >= sparse - 1);
	sample_release(&s);
}

/*
 * Tips of the kind SELECT_TIP must be selected. Tips of other kinds need not
 * be.
 */
static void only_wanted_tips(void **state)
{
	static const enum select_tip kinds[] = {SELECT_REF, SELECT_BRANCH,
						SELECT_NEW_BRANCH};
	struct sample s;
	size_t without;

	linear(&s, 50000, 0);
	s.dense_nr = SELECT_PLAIN;
	sample_select(&s);
	without = s.selected_nr;
	for (uint32_t i = 0; i < s.nr; i += 100)
		s.is_tip[i + 50] = (uint8_t)kinds[i / 100 % 3];
	sample_select(&s);
	assert_int_equal(s.selected_nr, without);
	/*
	 * In a linear history, the tip is selected in place of a commit near
	 * it. So the number of selected commits does not change.
	 */
	s.is_tip[150] = SELECT_TIP;
	sample_select(&s);
	assert_int_equal(s.selected_nr, without);
	assert_int_equal(s.selected[without - 1], 150);
	sample_release(&s);
}

/*
 * The first parent of each commit is the nearest even commit before it. So the
 * even commits are the first-parent line of the tip. The odd commits are side
 * branches.
 */
static void lines_are_preferred(void **state)
{
	struct sample s;
	size_t sparse = 0;

	sample_init(&s, 30000);
	for (uint32_t i = 0; i < s.nr; i++) {
		uint32_t parents[2] = {i - 2 + i % 2, i - 3};
		bool is_merge = i % 6 == 5;

		dag_add(&s.d, 1000 + i, false, parents, i ? 1 + is_merge : 0);
	}
	s.is_tip[s.nr - 2] = SELECT_TIP;
	sample_select(&s);
	for (size_t i = 0; i < s.selected_nr; i++) {
		if (s.selected[i] > s.nr - 3 * DENSE_NR)
			continue;
		sparse++;
		assert_int_equal(s.selected[i] % 2, 0);
	}
	assert_true(sparse > 100);
	sample_release(&s);
}

/*
 * bitmap_select_nr() returns the number of commits that bitmap_select()
 * selects.
 */
static void counted(void **state)
{
	for (size_t nr = 0; nr < 20000; nr = 3 * nr + 1) {
		struct sample s;

		linear(&s, nr ? nr : 1, 0);
		sample_select(&s);
		assert_int_equal(bitmap_select_nr(nr ? nr : 1, DENSE_NR),
				 s.selected_nr);
		sample_release(&s);
	}
	assert_int_equal(bitmap_select_nr(0, DENSE_NR), 0);
}

static void fewer_for_fewer_objects(void **state)
{
	size_t before = bitmap_select_dense_nr(0);

	assert_int_equal(before, SELECT_MIN_DENSE_NR);
	for (size_t nr = 1; nr < (1 << 24); nr *= 2) {
		size_t dense_nr = bitmap_select_dense_nr(nr);

		assert_true(dense_nr >= before);
		assert_true(bitmap_select_nr(5000, dense_nr) >=
			    bitmap_select_nr(5000, before));
		before = dense_nr;
	}
	assert_int_equal(before, SELECT_MAX_DENSE_NR);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(dense_near_the_newest),
		cmocka_unit_test(gaps_have_an_end),
		cmocka_unit_test(tips_are_always_taken),
		cmocka_unit_test(merges_are_preferred),
		cmocka_unit_test(only_wanted_tips),
		cmocka_unit_test(lines_are_preferred),
		cmocka_unit_test(counted),
		cmocka_unit_test(fewer_for_fewer_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
