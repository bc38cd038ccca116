/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/pseudo-select.c, which puts tips into groups. Each group gets
 * a pseudo-merge. The histories are random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "bitmap/pseudo-select.h"
#include "t/unit/dag.h"

#define COMMITS 1200

struct sample {
	struct dag d;
	uint32_t commits[COMMITS];
	uint8_t has_bitmap[COMMITS];
	struct pseudo_tips tips;
	struct pseudo_groups groups;
	size_t default_tip_nr, default_merge_nr;
};

/*
 * Makes commits with dates from 1000 on. Each commit has up to two parents
 * among the commits before it.
 */
static void sample_init(struct sample *s, uint64_t *seed)
{
	memset(s, 0, sizeof(*s));
	s->default_tip_nr = COMMITS;
	s->default_merge_nr = PSEUDO_DEFAULT_MERGES;
	dag_init(&s->d);
	for (uint32_t i = 0; i < COMMITS; i++) {
		uint32_t parents[2], nr = 0;

		for (int k = random_next(seed) % 4 == 0; k >= 0 && i; k--)
			parents[nr++] = i - 1 -
					(uint32_t)(random_next(seed) %
						   (i < 40 ? i : 40));
		dag_add(&s->d, 1000 + i, false, parents, nr);
		s->commits[i] = i;
		s->has_bitmap[i] = random_next(seed) % 32 == 0;
	}
}

static void sample_release(struct sample *s)
{
	pseudo_tips_release(&s->tips);
	pseudo_groups_release(&s->groups);
	dag_release(&s->d);
}

static void add_tip(struct sample *s, uint32_t c, uint32_t group)
{
	assert_int_equal(pseudo_tips_add(&s->tips, c, group), 0);
}

static void choose(struct sample *s, size_t commit_nr)
{
	struct pseudo_select_input in = {
		.history = &s->d.h,
		.commits = s->commits,
		.commit_nr = commit_nr,
		.has_bitmap = s->has_bitmap,
		.tips = &s->tips,
		.default_tip_nr = s->default_tip_nr,
		.default_merge_nr = s->default_merge_nr,
	};

	pseudo_groups_release(&s->groups);
	assert_int_equal(pseudo_select(&s->groups, &in, NULL), 0);
}

static void reach(const struct sample *s, bool *set, uint32_t c)
{
	const struct history *h = &s->d.h;

	if (set[c])
		return;
	set[c] = true;
	for (uint32_t i = 0; i < h->commits[c].parent_nr; i++)
		reach(s, set, history_parents(h, c)[i]);
}

/*
 * A class is a set of refs: branches and tags, or all other refs. Consider a
 * request for all tips of a class. Sets covered[c] for each commit `c` that the
 * request need not walk, because a bitmap or a pseudo-merge has this commit.
 * These are the tips of this class that have bitmaps, the tips of the classes
 * before this class (they have pseudo-merges), and all ancestors of these tips.
 */
static void reach_covered(const struct sample *s, bool *covered,
			  enum pseudo_class class)
{
	memset(covered, 0, COMMITS);
	for (size_t i = 0; i < s->tips.nr; i++)
		if (s->tips.tips[i].group < class ||
		    (s->tips.tips[i].group == class &&
		     s->has_bitmap[s->tips.tips[i].commit_nr]))
			reach(s, covered, s->tips.tips[i].commit_nr);
}

/*
 * Returns whether a group belongs to a class (branches and tags, or other
 * refs): its first commit must be a tip of this class.
 */
static bool is_of(const struct sample *s, const struct bitmap_group *group,
		  enum pseudo_class class)
{
	for (size_t i = 0; i < s->tips.nr; i++)
		if (s->tips.tips[i].commit_nr == group->commits[0])
			return s->tips.tips[i].group == class;
	return false;
}

static bool is_tip(const struct sample *s, uint32_t c, enum pseudo_class class)
{
	for (size_t i = 0; i < s->tips.nr; i++)
		if (s->tips.tips[i].commit_nr == c &&
		    s->tips.tips[i].group == class)
			return true;
	return false;
}

/*
 * Returns true if pseudo-merges of a class of tips (named refs or other refs)
 * are worth their space. `walked`: number of commits that a request for the
 * tips of the class walks if there are no such pseudo-merges.
 */
static bool is_worth_it(const struct sample *s, enum pseudo_class class,
			size_t walked)
{
	bool reached[COMMITS] = {false};
	size_t nr = 0;

	for (size_t i = 0; i < s->tips.nr; i++)
		if (s->tips.tips[i].group <= class)
			reach(s, reached, s->tips.tips[i].commit_nr);
	for (uint32_t c = 0; c < COMMITS; c++)
		nr += reached[c];
	return walked && (walked >= PSEUDO_DEFAULT_MIN_SAVED ||
			  walked >= (nr + PSEUDO_DEFAULT_SAVED_PART - 1) /
					    PSEUDO_DEFAULT_SAVED_PART);
}

/*
 * Checks the groups of tips of one class (named refs or other refs). Consider
 * all commits that the tips of the class reach. Each of them must be covered
 * (see reach_covered()), or a tip in one of the groups must reach it.
 */
static void check_class(const struct sample *s, enum pseudo_class class)
{
	bool covered[COMMITS], reached[COMMITS] = {false};
	bool wanted[COMMITS] = {false};
	size_t walked = 0, groups = 0;

	reach_covered(s, covered, class);
	for (size_t i = 0; i < s->tips.nr; i++)
		if (s->tips.tips[i].group == class)
			reach(s, wanted, s->tips.tips[i].commit_nr);
	for (uint32_t c = 0; c < COMMITS; c++)
		walked += wanted[c] && !covered[c];
	for (size_t g = 0; g < s->groups.nr; g++) {
		const struct bitmap_group *group = &s->groups.groups[g];

		if (!is_of(s, group, class))
			continue;
		groups++;
		for (size_t i = 0; i < group->nr; i++) {
			assert_true(is_tip(s, group->commits[i], class));
			assert_false(covered[group->commits[i]]);
			/*
			 * No tip in the groups of this class is an ancestor of
			 * another such tip.
			 */
			assert_false(reached[group->commits[i]]);
			assert_true(!i ||
				    group->commits[i - 1] < group->commits[i]);
			reach(s, reached, group->commits[i]);
		}
	}
	assert_int_equal(groups > 0, is_worth_it(s, class, walked));
	assert_true(groups <= PSEUDO_DEFAULT_MERGES);
	for (uint32_t c = 0; groups && c < COMMITS; c++)
		if (wanted[c])
			assert_true(reached[c] || covered[c]);
}

static void by_default(void **state)
{
	uint64_t seed = random_seed();
	size_t groups = 0;

	for (int i = 0; i < 30; i++) {
		uint32_t named = (uint32_t)(random_next(&seed) % 20);
		uint32_t others = (uint32_t)(random_next(&seed) % 600);
		struct sample s;

		sample_init(&s, &seed);
		while (named--)
			add_tip(&s, (uint32_t)(random_next(&seed) % COMMITS),
				PSEUDO_NAMED);
		for (; others; others--) {
			uint32_t c = (uint32_t)(random_next(&seed) % COMMITS);

			if (!is_tip(&s, c, PSEUDO_NAMED))
				add_tip(&s, c, PSEUDO_OTHERS);
		}
		choose(&s, COMMITS);
		check_class(&s, PSEUDO_NAMED);
		check_class(&s, PSEUDO_OTHERS);
		groups += s.groups.nr;
		sample_release(&s);
	}
	assert_true(groups > 10);
}

/*
 * Old tips are in large groups (pseudo-merges), and new tips in small groups.
 */
static void halves(void **state)
{
	static const size_t expect[] = {500, 250, 125, 125};
	uint64_t seed = random_seed();
	struct sample s;

	sample_init(&s, &seed);
	memset(s.has_bitmap, 0, sizeof(s.has_bitmap));
	for (uint32_t c = 0; c < COMMITS; c++)
		s.d.h.commits[c].parent_nr = 0;
	for (uint32_t c = 200; c < COMMITS; c++)
		add_tip(&s, c, PSEUDO_OTHERS);
	choose(&s, COMMITS);
	assert_true(s.groups.nr >= ARRAY_NR(expect));
	for (size_t i = 0, c = 200; i < 3; c += s.groups.groups[i++].nr) {
		assert_int_equal(s.groups.groups[i].nr, expect[i]);
		assert_int_equal(s.groups.groups[i].commits[0], c);
	}
	/*
	 * If the number of pseudo-merges is limited, the last one has all
	 * remaining tips.
	 */
	s.default_merge_nr = 2;
	choose(&s, COMMITS);
	assert_int_equal(s.groups.nr, 2);
	assert_int_equal(s.groups.groups[0].nr, 500);
	assert_int_equal(s.groups.groups[1].nr, 500);
	s.default_merge_nr = PSEUDO_DEFAULT_MERGES;
	/*
	 * Commits from number 600 on are not in the pack, so they are in no
	 * group (pseudo-merge).
	 */
	choose(&s, 600);
	for (size_t i = 0; i < s.groups.nr; i++)
		for (size_t k = 0; k < s.groups.groups[i].nr; k++)
			assert_true(s.groups.groups[i].commits[k] < 600);
	sample_release(&s);
}

/*
 * Makes a history without merges. The parent of each commit is the previous
 * commit.
 */
static void make_line(struct sample *s)
{
	memset(s, 0, sizeof(*s));
	s->default_tip_nr = COMMITS;
	s->default_merge_nr = PSEUDO_DEFAULT_MERGES;
	dag_init(&s->d);
	for (uint32_t i = 0; i < COMMITS; i++) {
		uint32_t parent = i - 1;

		dag_add(&s->d, 1000 + i, false, &parent, i > 0);
		s->commits[i] = i;
	}
}

/*
 * The tips of a class (branches and tags, or other refs) get pseudo-merges only
 * if these save enough work. Consider a request for all these tips, and count
 * the commits that it walks without pseudo-merges. In this test, the tips get
 * pseudo-merges if this count is at least 1/PSEUDO_DEFAULT_SAVED_PART of all
 * commits that the tips reach. The count is an estimate, which ignores bitmaps
 * of commits that are no tips.
 */
static void worth_it(void **state)
{
	enum { WITH_BITMAP = 1190, FEW = 4 };

	assert_true(FEW * PSEUDO_DEFAULT_SAVED_PART < WITH_BITMAP);
	assert_true((FEW + 1) * PSEUDO_DEFAULT_SAVED_PART > COMMITS);
	for (uint32_t class = PSEUDO_NAMED; class <= PSEUDO_OTHERS; class ++) {
		for (uint32_t more = FEW; more <= FEW + 1; more++) {
			struct sample s;

			make_line(&s);
			s.has_bitmap[WITH_BITMAP] = 1;
			add_tip(&s, WITH_BITMAP + more, class);
			choose(&s, COMMITS);
			assert_int_equal(s.groups.nr, 1);
			add_tip(&s, WITH_BITMAP, class);
			choose(&s, COMMITS);
			assert_int_equal(s.groups.nr, more > FEW);
			sample_release(&s);
		}
	}
}

/* If the number of tips is limited, the oldest tips get into pseudo-merges. */
static void limited(void **state)
{
	uint64_t seed = random_seed();
	struct sample s;
	size_t nr = 0;

	sample_init(&s, &seed);
	memset(s.has_bitmap, 0, sizeof(s.has_bitmap));
	for (uint32_t c = 0; c < COMMITS; c++) {
		s.d.h.commits[c].parent_nr = 0;
		add_tip(&s, c, c % 2 ? PSEUDO_NAMED : PSEUDO_OTHERS);
	}
	s.default_tip_nr = 700;
	choose(&s, COMMITS);
	for (size_t i = 0; i < s.groups.nr; i++)
		for (size_t k = 0; k < s.groups.groups[i].nr; k++, nr++) {
			uint32_t c = s.groups.groups[i].commits[k];

			assert_true(c % 2 || c < 200);
		}
	assert_int_equal(nr, 700);
	s.default_tip_nr = 0;
	choose(&s, COMMITS);
	assert_int_equal(s.groups.nr, 0);
	sample_release(&s);
}

static void set_rules(struct sample *s, const struct pseudo_rules *rules,
		      size_t nr)
{
	assert_int_equal(mem_grow(&s->tips.rules, &s->tips.group_alloc, nr,
				  sizeof(*rules)),
			 0);
	memcpy(s->tips.rules, rules, nr * sizeof(*rules));
	s->tips.group_nr = nr;
}

/*
 * Makes each commit before number 900 a tip, twice, as if two refs point to it.
 * The date of a commit is 1000 plus its number.
 */
static void make_tips(struct sample *s, uint64_t *seed)
{
	sample_init(s, seed);
	memset(s->has_bitmap, 0, sizeof(s->has_bitmap));
	for (uint32_t c = 900; c-- > 0;) {
		add_tip(s, c, 0);
		add_tip(s, c, 0);
	}
}

static void check_sizes(const struct sample *s, const size_t *sizes, size_t nr,
			uint32_t from)
{
	assert_int_equal(s->groups.nr, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct bitmap_group *group = &s->groups.groups[i];

		assert_int_equal(group->nr, sizes[i]);
		for (size_t k = 0; k < group->nr; k++)
			assert_int_equal(group->commits[k], from++);
	}
}

static void stable_and_unstable(void **state)
{
	/*
	 * Expected sizes of groups (pseudo-merges). 600 commits are old enough
	 * for the rules. The oldest 251 of them are stable, and are in groups
	 * of at most 100. The other 349 are in 3 groups of nearly equal size.
	 */
	static const size_t sizes[] = {100, 100, 51, 116, 117, 116};
	static const struct pseudo_rules rules = {
		.sample_rate = 1,
		.threshold = 1599,
		.stable_threshold = 1250,
		.max_merges = 3,
		.stable_size = 100,
	};
	uint64_t seed = random_seed();
	struct sample s;

	make_tips(&s, &seed);
	set_rules(&s, &rules, 1);
	choose(&s, COMMITS);
	check_sizes(&s, sizes, ARRAY_NR(sizes), 0);
	/*
	 * All stable tips (tips that are old enough) get into groups, even if
	 * they have bitmaps.
	 */
	memset(s.has_bitmap, 1, sizeof(s.has_bitmap));
	s.tips.rules[0].sample_rate = .1;
	choose(&s, COMMITS);
	check_sizes(&s, sizes, 3, 0);
	sample_release(&s);
}

/*
 * Group n (of commits for one pseudo-merge) has a size proportional to
 * n^-decay. With decay 1, the sizes of four groups are in the ratio 1 : 1/2 :
 * 1/3 : 1/4.
 */
static void decay(void **state)
{
	static const size_t sizes[] = {432, 216, 144, 108};
	static const struct pseudo_rules rules = {
		.decay = 1,
		.sample_rate = 1,
		.threshold = INT64_MAX,
		.max_merges = 4,
		.stable_size = 1,
	};
	uint64_t seed = random_seed();
	struct sample s;

	make_tips(&s, &seed);
	set_rules(&s, &rules, 1);
	choose(&s, COMMITS);
	check_sizes(&s, sizes, ARRAY_NR(sizes), 0);
	s.tips.rules[0].max_merges = 0;
	choose(&s, COMMITS);
	assert_int_equal(s.groups.nr, 0);
	/*
	 * If the sizes of the groups (pseudo-merges) decrease steeply, later
	 * groups are empty. Still, each commit is in a group.
	 */
	s.tips.rules[0].max_merges = 64;
	s.tips.rules[0].decay = 9;
	choose(&s, COMMITS);
	assert_true(s.groups.nr > 1 && s.groups.nr < 10);
	assert_true(s.groups.groups[0].nr > 890);
	/*
	 * The configuration may ask for more groups (pseudo-merges) than there
	 * are commits.
	 */
	s.tips.rules[0].decay = 0;
	s.tips.rules[0].max_merges = UINT32_MAX;
	choose(&s, COMMITS);
	assert_int_equal(s.groups.nr, 900);
	sample_release(&s);
}

static void sampling(void **state)
{
	static const struct pseudo_rules rules = {
		.sample_rate = .25,
		.threshold = INT64_MAX,
		.max_merges = 1,
		.stable_size = 1,
	};
	uint64_t seed = random_seed();
	struct sample s;

	make_tips(&s, &seed);
	set_rules(&s, &rules, 1);
	choose(&s, COMMITS);
	assert_int_equal(s.groups.nr, 1);
	assert_int_equal(s.groups.groups[0].nr, 225);
	for (size_t i = 1; i < 225; i++)
		assert_int_equal(s.groups.groups[0].commits[i] -
					 s.groups.groups[0].commits[i - 1],
				 4);
	sample_release(&s);
}

/*
 * A commit may be in several groups (pseudo-merges). A commit that is not in
 * the pack is in no group.
 */
static void groups_overlap(void **state)
{
	static const struct pseudo_rules rules[2] = {
		{.sample_rate = 1,
		 .threshold = INT64_MAX,
		 .max_merges = 1,
		 .stable_size = 1},
		{.sample_rate = 1,
		 .stable_threshold = 1099,
		 .max_merges = 1,
		 .stable_size = 500},
	};
	uint64_t seed = random_seed();
	struct sample s;

	make_tips(&s, &seed);
	set_rules(&s, rules, 2);
	for (uint32_t c = 20; c < 200; c++)
		add_tip(&s, c, 1);
	choose(&s, COMMITS);
	assert_int_equal(s.groups.nr, 2);
	assert_int_equal(s.groups.groups[0].nr, 900);
	assert_int_equal(s.groups.groups[1].nr, 80);
	assert_int_equal(s.groups.groups[1].commits[0], 20);
	choose(&s, 50);
	assert_int_equal(s.groups.groups[0].nr, 50);
	assert_int_equal(s.groups.groups[1].nr, 30);
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_default),
		cmocka_unit_test(halves),
		cmocka_unit_test(limited),
		cmocka_unit_test(stable_and_unstable),
		cmocka_unit_test(decay),
		cmocka_unit_test(sampling),
		cmocka_unit_test(groups_overlap),
		cmocka_unit_test(worth_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
