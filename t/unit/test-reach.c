/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/reach.c, which finds the commits that reach a target. The
 * results for random histories and targets are compared with a recursive
 * search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/dag.h"

#include "walk/reach.h"

#define COMMITS 60

/*
 * Returns whether `from` is a target or has a target among its ancestors.
 * Searches slowly.
 */
static bool slow(const struct dag *d, const bool *targets, uint32_t from)
{
	bool seen[COMMITS] = {false};

	dag_ancestors(d, seen, from);
	for (uint32_t i = 0; i < COMMITS; i++)
		if (seen[i] && targets[i])
			return true;
	return false;
}

static void check_all(struct reach *r, const struct dag *d, const bool *targets)
{
	uint32_t all[COMMITS];
	bool every = true;

	for (uint32_t i = 0; i < COMMITS; i++) {
		bool want = slow(d, targets, i);

		all[i] = i;
		every = every && want;
		assert_int_equal(reach_all(r, &i, 1, NULL), want);
	}
	assert_int_equal(reach_all(r, all, COMMITS, NULL), every);
}

static void run_random(bool generations, uint64_t seed)
{
	bool targets[COMMITS] = {false};
	struct dag d;
	struct reach r;

	dag_init(&d);
	dag_random(&d, COMMITS, generations, &seed);
	reach_init(&r, &d.h);
	for (int round = 0; round < 6; round++) {
		uint32_t target = (uint32_t)(random_next(&seed) % COMMITS);

		targets[target] = true;
		assert_int_equal(reach_add_target(&r, target, NULL), 0);
		check_all(&r, &d, targets);
	}
	reach_release(&r);
	dag_release(&d);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 60; i++)
		run_random(i & 1, random_next(&seed));
}

static void test_no_targets(void **state)
{
	struct dag d;
	struct reach r;
	uint32_t c;

	dag_init(&d);
	c = dag_add(&d, 1, false, NULL, 0);
	reach_init(&r, &d.h);
	assert_int_equal(reach_all(&r, NULL, 0, NULL), 1);
	assert_int_equal(reach_all(&r, &c, 1, NULL), 0);
	reach_release(&r);
	dag_release(&d);
}

/* A target is found even if its child has the same date. */
static void test_equal_dates(void **state)
{
	struct dag d;
	struct reach r;
	uint32_t a, b, c;

	dag_init(&d);
	a = dag_add(&d, 1000, false, NULL, 0);
	b = dag_add(&d, 1000, false, &a, 1);
	c = dag_add(&d, 1000, false, &b, 1);
	reach_init(&r, &d.h);
	assert_int_equal(reach_add_target(&r, a, NULL), 0);
	assert_int_equal(reach_all(&r, &c, 1, NULL), 1);
	reach_release(&r);
	dag_release(&d);
}

/*
 * Some dates are wrong. With generation numbers, the targets are found
 * nevertheless.
 */
static void test_generations_instead_of_dates(void **state)
{
	struct dag d;
	struct reach r;
	uint32_t a, b, c;

	dag_init(&d);
	a = dag_add(&d, 9000, true, NULL, 0);
	b = dag_add(&d, 5, true, &a, 1);
	c = dag_add(&d, 10, true, &b, 1);
	reach_init(&r, &d.h);
	assert_int_equal(reach_add_target(&r, a, NULL), 0);
	assert_int_equal(reach_all(&r, &c, 1, NULL), 1);
	reach_release(&r);
	dag_release(&d);
}

/* The walk must not read commits that are older than all targets. */
static void test_old_commits_are_not_read(void **state)
{
	struct dag d;
	struct reach r;
	uint32_t c = 0, target;

	dag_init(&d);
	for (uint32_t i = 0; i < 1000; i++)
		c = dag_add(&d, i, false, &c, i > 0);
	target = dag_add(&d, 995, false, NULL, 0);
	reach_init(&r, &d.h);
	assert_int_equal(reach_add_target(&r, target, NULL), 0);
	/*
	 * Commit 900 is older than all targets, so it must not be read. Reading
	 * it would crash the test.
	 */
	d.h.commits[900].parsed = false;
	assert_int_equal(reach_all(&r, &c, 1, NULL), 0);
	reach_release(&r);
	dag_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_no_targets),
		cmocka_unit_test(test_equal_dates),
		cmocka_unit_test(test_generations_instead_of_dates),
		cmocka_unit_test(test_old_commits_are_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
