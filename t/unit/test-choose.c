/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/choose.c, which selects the commits that get bitmaps. They
 * prove that the bitmaps use more than half of a budget, and do not exceed it.
 * The budget is the size that the bitmaps of a plain selection
 * (bitmap/select.c) would have. There are two further budgets: for bitmaps near
 * tips, and for pseudo-merges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/choose.h"
#include "bitmap/select.h"
#include "bitmap/tip-select.h"
#include "t/unit/dag.h"

#define COMMITS 4000
/*
 * Number of topic branches. Each branch has one commit, whose parent is an old
 * commit of the main line.
 */
#define TOPICS 1500
/* Number of trees and blobs that each commit adds. */
#define ADDED 4
#define ALL (COMMITS + TOPICS)
#define OBJECTS (ALL * (1 + ADDED))

/*
 * A history: a main line of commits, and topic branches. In the order of the
 * objects' numbers (obj_pos), all commits come before all other objects.
 */
struct sample {
	struct dag d;
	struct newobj_list lists[ALL];
	struct treediff_object items[ALL * ADDED];
	struct newobj_set set;
	uint32_t parents_first[ALL], newest_first[ALL];
	uint32_t bit_pos[OBJECTS];
	uint8_t is_tip[ALL];
	struct pseudo_tips pseudo;
	struct bitmap_choose_input in;
};

static void sample_add(struct sample *s, uint32_t date, uint32_t parent)
{
	uint32_t c = dag_add(&s->d, date, false, &parent, s->d.h.nr > 0);
	struct treediff_object *items = s->items + c * ADDED;

	s->d.h.commits[c].obj_pos = c;
	for (uint32_t k = 0; k < ADDED; k++)
		items[k].obj_pos = ALL + c * ADDED + k;
	s->lists[c] = (struct newobj_list){.items = items, .nr = ADDED};
	s->parents_first[c] = c;
	s->newest_first[ALL - 1 - c] = c;
}

/*
 * Gives each object a bit position. If `scattered` is true, the positions are
 * random. Otherwise the objects that a commit adds get adjacent positions.
 */
static void number(struct sample *s, bool scattered, uint64_t *seed)
{
	for (uint32_t i = 0; i < OBJECTS; i++)
		s->bit_pos[i] = OBJECTS - 1 - i;
	for (uint32_t i = OBJECTS - 1; scattered && i > 0; i--) {
		uint32_t j = (uint32_t)(random_next(seed) % (i + 1));
		uint32_t t = s->bit_pos[i];

		s->bit_pos[i] = s->bit_pos[j];
		s->bit_pos[j] = t;
	}
}

static struct sample *sample_new(void)
{
	struct sample *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	dag_init(&s->d);
	for (uint32_t i = 0; i < COMMITS; i++)
		sample_add(s, 1000 + i, i - 1);
	for (uint32_t i = 0; i < TOPICS; i++) {
		sample_add(s, 1000 + COMMITS + i, i * COMMITS / TOPICS);
		assert_int_equal(
			pseudo_tips_add(&s->pseudo, COMMITS + i, PSEUDO_OTHERS),
			0);
	}
	s->is_tip[COMMITS - 1] = SELECT_TIP;
	s->set = (struct newobj_set){.lists = s->lists, .nr = ALL};
	s->in = (struct bitmap_choose_input){
		.build = {.history = &s->d.h,
			  .commits = s->parents_first,
			  .commit_nr = ALL,
			  .lists = &s->set,
			  .bit_pos = s->bit_pos,
			  .bits = OBJECTS},
		.newest_first = s->newest_first,
		.is_tip = s->is_tip,
		.object_nr = OBJECTS,
	};
	return s;
}

static void sample_free(struct sample *s)
{
	pseudo_tips_release(&s->pseudo);
	dag_release(&s->d);
	free(s);
}

static size_t entry_words(const struct bitmap_build_result *built)
{
	size_t words = 0;

	for (size_t i = 0; i < built->entry_nr; i++)
		words += built->entries[i].bitmap.word_nr;
	return words;
}

static size_t pseudo_words(const struct bitmap_build_result *built)
{
	size_t words = 0;

	for (size_t i = 0; i < built->group_nr; i++)
		words += built->groups[i].objects.word_nr;
	return words;
}

/*
 * Returns the number of words of the bitmaps of a plain selection, which
 * ignores the tips of topic branches. Sets *nr to the number of these bitmaps.
 */
static size_t plain_words(const struct sample *s, size_t *nr)
{
	const struct bitmap_select_input select = {
		.history = &s->d.h,
		.commits = s->newest_first,
		.parents_first = s->parents_first,
		.nr = ALL,
		.dense_nr = SELECT_PLAIN,
		.is_tip = s->is_tip,
	};
	struct bitmap_build_input in = s->in.build;
	struct bitmap_build_result built;
	uint32_t *selected;
	size_t words;

	assert_int_equal(
		bitmap_select(&selected, &in.selected_nr, &select, NULL), 0);
	in.selected = selected;
	assert_int_equal(bitmap_build(&built, &in, NULL), 0);
	words = entry_words(&built);
	*nr = built.entry_nr;
	bitmap_build_result_release(&built);
	free(selected);
	return words;
}

static bool has_entry(const struct bitmap_build_result *built, uint32_t c)
{
	for (size_t i = 0; i < built->entry_nr; i++)
		if (built->entries[i].commit_nr == c)
			return true;
	return false;
}

/*
 * Only the newest commit of the main line is a tip. The bitmaps that
 * bitmap_choose() chooses are compared with those of a plain selection (commits
 * at fixed gaps, as stock Git selects them). The chosen bitmaps must have at
 * most as many words as the plain ones. They must also be more than half as
 * large. In this second comparison, both sizes include four more words for each
 * bitmap: an entry takes about four words of the file besides the words of its
 * bitmap.
 */
static void within_the_budget(void **state)
{
	struct sample *s = sample_new();
	uint64_t seed = random_seed();

	for (int round = 0; round < 2; round++) {
		struct bitmap_build_result built = {0};
		size_t plain, plain_nr, words;

		number(s, round, &seed);
		plain = plain_words(s, &plain_nr);
		assert_int_equal(bitmap_choose(&built, &s->in, NULL), 0);
		words = entry_words(&built);
		assert_true(words <= plain);
		assert_true(words + 4 * built.entry_nr >
			    plain / 2 + 2 * plain_nr);
		assert_true(has_entry(&built, COMMITS - 1));
		assert_int_equal(built.group_nr, 0);
		bitmap_build_result_release(&built);
	}
	sample_free(s);
}

/*
 * With pseudo-merges, the default budget (a number of words) is larger than for
 * bitmaps alone. Bitmaps and pseudo-merges together must stay within the
 * budget.
 */
static void pseudo_merges(void **state)
{
	struct sample *s = sample_new();
	uint64_t seed = random_seed();

	for (int round = 0; round < 2; round++) {
		struct bitmap_build_result built = {0};
		size_t plain, plain_nr, words;

		number(s, round, &seed);
		s->in.pseudo = &s->pseudo;
		plain = plain_words(s, &plain_nr);
		assert_int_equal(bitmap_choose(&built, &s->in, NULL), 0);
		words = entry_words(&built) + pseudo_words(&built);
		assert_true(built.group_nr > 0);
		assert_true(words + 4 * built.entry_nr <=
			    plain + 4 * plain_nr +
				    OBJECTS / CHOOSE_OBJECTS_PER_WORD);
		bitmap_build_result_release(&built);
	}
	sample_free(s);
}

/*
 * Each tip of the kind SELECT_TIP gets a bitmap. Tips of other kinds get
 * bitmaps only if all bitmaps together stay within their maximum size.
 */
static void tips(void **state)
{
	struct sample *s = sample_new();
	uint64_t seed = random_seed();

	number(s, true, &seed);
	for (int kind = SELECT_REF; kind <= SELECT_TIP; kind++) {
		struct bitmap_build_result built = {0};
		size_t tip_nr = 0;

		for (uint32_t c = COMMITS; c < ALL; c++)
			s->is_tip[c] = (uint8_t)kind;
		assert_int_equal(bitmap_choose(&built, &s->in, NULL), 0);
		for (uint32_t c = COMMITS; c < ALL; c++)
			tip_nr += has_entry(&built, c);
		if (kind == SELECT_TIP)
			assert_int_equal(tip_nr, TOPICS);
		else
			assert_true(tip_nr < TOPICS / 2);
		bitmap_build_result_release(&built);
	}
	sample_free(s);
}

/*
 * All bitmaps together do not exceed the configured size (a number of words),
 * whether it is small or large.
 */
static void configured_budget(void **state)
{
	static const size_t budgets[] = {600, 2000, 8000, 50000};
	struct sample *s = sample_new();
	size_t last_nr = 0;

	number(s, false, NULL);
	s->in.pseudo = &s->pseudo;
	for (uint32_t c = COMMITS; c < ALL; c++)
		s->is_tip[c] = c % 3 ? SELECT_REF : SELECT_BRANCH;
	for (size_t i = 0; i < 4; i++) {
		struct bitmap_build_result built = {0};
		size_t words;

		s->in.budget_words = budgets[i];
		assert_int_equal(bitmap_choose(&built, &s->in, NULL), 0);
		words = entry_words(&built) + pseudo_words(&built) +
			4 * built.entry_nr;
		assert_true(words <= budgets[i]);
		assert_true(has_entry(&built, COMMITS - 1));
		assert_true(built.entry_nr > last_nr);
		last_nr = built.entry_nr;
		bitmap_build_result_release(&built);
	}
	sample_free(s);
}

/*
 * Returns the number of words that the pseudo-merges take in the file: their
 * bitmaps, four more words each, and 12 bytes for each of their commits.
 */
static size_t groups_in_file(const struct bitmap_build_result *built)
{
	size_t words = pseudo_words(built);

	for (size_t i = 0; i < built->group_nr; i++) {
		struct ewah_view v = ewah_view_of(&built->groups[i].commits);

		words += v.word_nr + 4 + ewah_count(&v) * 3 / 2;
	}
	return words;
}

/*
 * Bitmaps and pseudo-merges of scattered objects are large. So the first choice
 * exceeds the configured number of words (budget), and a smaller choice must be
 * found. This choice must contain pseudo-merges. The other bitmaps must use
 * more than three quarters of the budget.
 */
static void budget_of_large_bitmaps(void **state)
{
	static const size_t budgets[] = {12000, 25000};
	struct sample *s = sample_new();
	uint64_t seed = random_seed();

	number(s, true, &seed);
	s->in.pseudo = &s->pseudo;
	for (uint32_t c = COMMITS; c < ALL; c++)
		s->is_tip[c] = SELECT_REF;
	for (size_t i = 0; i < ARRAY_NR(budgets); i++) {
		struct bitmap_build_result built = {0};
		size_t words;

		s->in.budget_words = budgets[i];
		assert_int_equal(bitmap_choose(&built, &s->in, NULL), 0);
		words = entry_words(&built) + 4 * built.entry_nr;
		assert_true(words > budgets[i] / 4 * 3);
		assert_true(built.group_nr > 0);
		assert_true(words + groups_in_file(&built) <= budgets[i]);
		bitmap_build_result_release(&built);
	}
	sample_free(s);
}

/*
 * A branch gets a bitmap near its tip if a fetch would otherwise walk many
 * commits to the nearest bitmap. This is the case for the 40 oldest topic
 * branches.
 */
static void far_branches(void **state)
{
	struct sample *s = sample_new();

	number(s, false, NULL);
	for (uint32_t c = COMMITS; c < COMMITS + 40; c++)
		s->is_tip[c] = SELECT_BRANCH;
	for (int far = 0; far < 2; far++) {
		struct bitmap_build_result built = {0};
		struct tip_walk walk;
		uint8_t *has_bitmap = calloc(ALL, 1);
		uint32_t walked, max = 0;

		assert_non_null(has_bitmap);
		s->in.budget_words = far ? 0 : 300;
		assert_int_equal(bitmap_choose(&built, &s->in, NULL), 0);
		for (size_t i = 0; i < built.entry_nr; i++)
			has_bitmap[built.entries[i].commit_nr] = 1;
		assert_int_equal(tip_walk_init(&walk, &s->d.h, s->parents_first,
					       ALL, has_bitmap),
				 0);
		for (uint32_t c = COMMITS; c < COMMITS + 40; c++) {
			tip_walk_count(&walk, &walked, &c, 1);
			max = walked > max ? walked : max;
		}
		/*
		 * With the default maximum size of all bitmaps, a fetch of any
		 * of the 40 branches walks at most one commit. With a maximum
		 * of 300 words, there is no bitmap near some of the tips.
		 */
		if (far)
			assert_true(max <= 1);
		else
			assert_true(max > 10);
		tip_walk_release(&walk);
		free(has_bitmap);
		bitmap_build_result_release(&built);
	}
	sample_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_the_budget),
		cmocka_unit_test(pseudo_merges),
		cmocka_unit_test(tips),
		cmocka_unit_test(configured_budget),
		cmocka_unit_test(budget_of_large_bitmaps),
		cmocka_unit_test(far_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
