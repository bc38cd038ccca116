/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/strategy.c, which chooses between bitmaps and a walk for a
 * request. In the history of the test, the distances between commits and
 * bitmaps are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bitmap/strategy.h"
#include "t/unit/bitmaprepo.h"

enum {
	/* Number of commits in the history, which is linear. */
	COMMITS = 1200,
	/* Number of commits in the bitmap index. They are the oldest ones. */
	INDEXED = 60,
};

/*
 * Makes a linear history. Each commit changes one or two files. The oldest
 * `indexed` commits are in a pack with a bitmap index.
 */
static void make_line(struct randrepo *r, uint32_t indexed)
{
	uint8_t files[RANDREPO_FILES] = {0};

	for (uint32_t i = 0; i < COMMITS; i++) {
		uint32_t parent = i ? r->commits[i - 1] : 0;

		files[0] = (uint8_t)(1 + i % 100);
		files[1] = (uint8_t)(1 + i / 100);
		randrepo_commit(r, files, &parent, i > 0,
				1700000000 + 60 * (uint64_t)i);
		if (i == indexed - 1 || i % 200 == 199)
			randrepo_store_pack(r);
		if (i != indexed - 1)
			continue;
		randrepo_all_refs(r);
		bitmaprepo_repack(r, true, true);
	}
}

static int open_line(void **state, uint32_t indexed)
{
	static uint64_t seed;
	struct randrepo *r = calloc(1, sizeof(*r));
	struct bitmaprepo *b = calloc(1, sizeof(*b));

	assert_true(r && b);
	seed = random_seed();
	randrepo_init(r, HASH_SHA1, &seed);
	make_line(r, indexed);
	if (indexed == COMMITS)
		bitmaprepo_thin_out(r, 1, 0, true, true);
	bitmaprepo_open(b, r);
	*state = b;
	return 0;
}

/* Makes a bitmap index that has only the oldest commits. Returns 0. */
static int setup(void **state)
{
	return open_line(state, INDEXED);
}

/* Makes a bitmap index that has all commits, but few bitmaps. Returns 0. */
static int setup_sparse(void **state)
{
	return open_line(state, COMMITS);
}

static int teardown(void **state)
{
	struct bitmaprepo *b = *state;
	struct randrepo *r = (struct randrepo *)b->r;

	bitmaprepo_close(b);
	randrepo_release(r);
	free(r);
	free(b);
	return 0;
}

/*
 * Asks for the objects that commit number `want` reaches and commit number
 * `have` does not. Numbers start with 0 at the root. If `have` is UINT32_MAX,
 * there is no have. Returns 0 if the bitmap index was used, or 1 if a walk is
 * better.
 */
static int ask_filtered(struct bitmaprepo *b, struct bitmap_plan *plan,
			uint32_t want, uint32_t have,
			const struct filter *filter)
{
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
	const struct pack_bitmap_query query = {
		.filter = filter,
		.inexact = true,
		.plan = plan,
	};
	const struct randrepo *r = b->r;
	int ret;

	assert_int_equal(walk_add_tip(&b->walk, &wants,
				      &r->objects[r->commits[want]].oid, false,
				      NULL),
			 0);
	if (have != UINT32_MAX)
		assert_int_equal(walk_add_tip(&b->walk, &haves,
					      &r->objects[r->commits[have]].oid,
					      false, NULL),
				 0);
	ret = pack_bitmap_query(&result, b->pb, &b->walk, &wants, &haves,
				&query, NULL);
	pack_bitmap_result_release(&result);
	walk_tips_release(&wants);
	walk_tips_release(&haves);
	return ret;
}

static int ask(struct bitmaprepo *b, struct bitmap_plan *plan, uint32_t want,
	       uint32_t have)
{
	return ask_filtered(b, plan, want, have, NULL);
}

static void bitmaps_that_are_near_are_used(void **state)
{
	struct bitmap_plan plan = {.strategy = BITMAP_STRATEGY_AUTO};

	assert_int_equal(ask(*state, &plan, COMMITS - 1, INDEXED + 9), 0);
	assert_string_equal(plan.reason, "bitmaps are near the haves");
	assert_int_equal(plan.have_commits, 10);
	assert_int_equal(plan.bitmap_cost, 1);
	assert_true(plan.walk_cost == UINT64_MAX);
	assert_int_equal(plan.want_commits, UINT32_MAX);
}

static void few_commits_far_away_are_walked(void **state)
{
	struct bitmap_plan plan = {.strategy = BITMAP_STRATEGY_AUTO};

	assert_int_equal(ask(*state, &plan, COMMITS - 1, COMMITS - 2), 1);
	assert_int_equal(plan.want_commits, 1);
	assert_int_equal(plan.want_beyond, 1);
	assert_int_equal(plan.boundary, 1);
	assert_int_equal(plan.walk_cost, 3);
	/*
	 * Too many commits were not in the index, so the search for bitmaps was
	 * ended early.
	 */
	assert_true(plan.bitmap_cost > plan.walk_cost);
	assert_int_equal(plan.have_commits, 21);
	assert_string_equal(plan.reason,
			    "few commits are wanted, and bitmaps are far");
}

static void many_commits_far_away_are_not(void **state)
{
	struct bitmap_plan plan = {.strategy = BITMAP_STRATEGY_AUTO};

	/*
	 * The have is 100 commits away from a bitmap. There are too many wanted
	 * commits to count them all.
	 */
	assert_int_equal(ask(*state, &plan, COMMITS - 1, INDEXED + 99), 0);
	assert_int_equal(plan.have_commits, 100);
	assert_true(plan.walk_cost == UINT64_MAX);
	assert_string_equal(plan.reason, "many commits are wanted");
}

/*
 * If no trees are wanted, a walk over few commits gives the whole result. If
 * more commits are wanted, bitmaps are used.
 */
static void commits_alone(void **state)
{
	struct bitmap_plan plan = {.strategy = BITMAP_STRATEGY_AUTO};
	struct filter filter;

	filter_init(&filter);
	assert_int_equal(filter_add(&filter, "tree:0", NULL), 0);
	assert_int_equal(
		ask_filtered(*state, &plan, INDEXED + 12, INDEXED + 9, &filter),
		1);
	assert_string_equal(plan.reason,
			    "few commits are wanted, and no trees");
	assert_int_equal(plan.want_commits, 3);
	assert_int_equal(plan.have_commits, 0);
	assert_int_equal(
		ask_filtered(*state, &plan, INDEXED + 59, INDEXED + 9, &filter),
		0);
	assert_string_equal(plan.reason, "bitmaps are near the haves");
	assert_int_equal(plan.have_commits, 10);
	/* If trees are wanted, a walk over the commits is not enough. */
	assert_int_equal(ask(*state, &plan, INDEXED + 59, INDEXED + 9), 0);
	assert_string_equal(plan.reason,
			    "looking for bitmaps costs less than walking");
	filter_release(&filter);
}

/*
 * Returns the largest number of a commit that has a bitmap and is not newer
 * than commit number `at`. If there is none, returns UINT32_MAX.
 */
static uint32_t newest_row(const bool *has_row, uint32_t at)
{
	while (at != UINT32_MAX && !has_row[at])
		at--;
	return at;
}

/* Sets has_row[i] to whether commit number `i` has a bitmap. */
static void list_rows(bool has_row[COMMITS], const struct bitmaprepo *b)
{
	memset(has_row, 0, COMMITS);
	for (uint32_t row = 0; row < b->pb->file.row_nr; row++)
		for (uint32_t i = 0; i < COMMITS; i++)
			if (b->r->commits[i] == bitmaprepo_row(b, row))
				has_row[i] = true;
}

/*
 * Checks the plan of a request. The client wants the commit with the number
 * `want` and has the commit with the number `have`. For each of these two
 * commits, the plan states how many commits a query must walk from there back
 * to a commit with a bitmap. `walks`: the plan prefers a walk.
 */
static void check_plan(const struct bitmap_plan *plan, bool walks,
		       const bool *has_row, uint32_t want, uint32_t have)
{
	uint32_t row = newest_row(has_row, want);
	uint32_t back = have - newest_row(has_row, have);
	uint64_t saved, most;

	if (!walks)
		assert_int_equal(plan->have_commits, back);
	if (plan->walk_cost == UINT64_MAX) {
		assert_false(walks);
		return;
	}
	assert_int_equal(plan->want_commits, want - have);
	assert_int_equal(plan->want_beyond, row != UINT32_MAX && row > have
						    ? want - row
						    : want - have);
	assert_int_equal(plan->walk_cost,
			 plan->want_commits + plan->want_commits / 4 + 2);
	saved = plan->walk_cost - plan->want_beyond;
	most = saved * (plan->want_beyond < plan->want_commits ? 8 : 32);
	/*
	 * The plan searches for bitmaps in the history of the commit `have`.
	 * The number of commits that this search visits is limited by the
	 * larger of two numbers. The first number is `most`: visiting this many
	 * commits costs as much as bitmaps save in comparison with a walk.
	 * Visiting the second number of commits costs a small part of what the
	 * walk costs.
	 */
	assert_true(plan->have_commits <= most ||
		    plan->have_commits <= 64 + 8 * plan->want_commits);
	/*
	 * A walk is preferred only if the next bitmap is so far from the commit
	 * `have` that finding this bitmap costs more than it saves.
	 */
	if (walks) {
		assert_true(back > most);
		assert_in_range(plan->bitmap_cost, plan->walk_cost,
				plan->want_beyond + back);
	}
}

static void what_is_done_in_vain_is_bounded(void **state)
{
	struct bitmaprepo *b = *state;
	uint32_t known = 0, walked = 0;
	bool has_row[COMMITS];

	list_rows(has_row, b);
	for (int i = 0; i < 400; i++) {
		struct bitmap_plan plan = {.strategy = BITMAP_STRATEGY_AUTO};
		uint32_t have = (uint32_t)(random_next(b->r->seed) %
					   (COMMITS - 100));
		uint32_t want = have + 1 +
				(uint32_t)(random_next(b->r->seed) % 90);
		bool walks = ask(b, &plan, want, have);

		check_plan(&plan, walks, has_row, want, have);
		known += plan.walk_cost != UINT64_MAX;
		walked += walks;
	}
	assert_true(known > 50 && walked > 20 && walked < known);
}

static void what_is_settled_is_not_estimated(void **state)
{
	struct bitmap_plan plan = {.strategy = BITMAP_STRATEGY_WALK};

	assert_int_equal(ask(*state, &plan, COMMITS - 1, INDEXED), 1);
	assert_string_equal(plan.reason, "gitreach.bitmapStrategy says so");
	plan.strategy = BITMAP_STRATEGY_INDEX;
	assert_int_equal(ask(*state, &plan, COMMITS - 1, COMMITS - 2), 0);
	assert_string_equal(plan.reason, "gitreach.bitmapStrategy says so");
	plan.strategy = BITMAP_STRATEGY_AUTO;
	assert_int_equal(ask(*state, &plan, COMMITS - 1, UINT32_MAX), 0);
	assert_string_equal(plan.reason, "there are no haves");
}

static void strategies_have_names(void **state)
{
	enum bitmap_strategy s = BITMAP_STRATEGY_WALK;

	assert_int_equal(bitmap_strategy_parse(&s, "auto"), 0);
	assert_int_equal(s, BITMAP_STRATEGY_AUTO);
	assert_int_equal(bitmap_strategy_parse(&s, "bitmap"), 0);
	assert_int_equal(s, BITMAP_STRATEGY_INDEX);
	assert_int_equal(bitmap_strategy_parse(&s, "walk"), 0);
	assert_int_equal(s, BITMAP_STRATEGY_WALK);
	assert_int_equal(bitmap_strategy_parse(&s, "Walk"), ERR_INVALID);
	assert_int_equal(bitmap_strategy_parse(&s, ""), ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bitmaps_that_are_near_are_used),
		cmocka_unit_test(few_commits_far_away_are_walked),
		cmocka_unit_test(many_commits_far_away_are_not),
		cmocka_unit_test(commits_alone),
		cmocka_unit_test(what_is_settled_is_not_estimated),
		cmocka_unit_test(strategies_have_names),
		cmocka_unit_test_setup_teardown(what_is_done_in_vain_is_bounded,
						setup_sparse, teardown),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
