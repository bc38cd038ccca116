/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/walk-end.c, which decides when a walk by date can end: small
 * histories with and without generation numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/dag.h"
#include "walk/walk-end.h"

#define SLOP 3

struct fixture {
	struct dag d;
	struct heap queue;
	struct walk_end end;
};

/* Makes a linear history of `nr` commits; commit i has the date 100 + i. */
static void begin(struct fixture *f, uint32_t nr, bool generations)
{
	memset(f, 0, sizeof(*f));
	dag_init(&f->d);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t parent = i - 1;

		dag_add(&f->d, 100 + i, generations, &parent, i > 0);
	}
	walk_end_init(&f->end, &f->d.h, &f->queue, SLOP);
}

static void finish(struct fixture *f)
{
	heap_release(&f->queue);
	dag_release(&f->d);
}

static void enter(struct fixture *f, uint32_t c, bool is_interesting)
{
	assert_int_equal(heap_push(&f->queue, f->d.h.commits[c].date, c), 0);
	walk_end_enter(&f->end, c, is_interesting);
}

/* Takes the newest commit from the queue, which must be `c`. */
static void leave(struct fixture *f, uint32_t c, bool is_interesting)
{
	uint32_t popped;

	assert_true(heap_pop(&f->queue, &popped));
	assert_int_equal(popped, c);
	walk_end_leave(&f->end, c, is_interesting);
}

static void select_commit(struct fixture *f, uint32_t c)
{
	enter(f, c, true);
	leave(f, c, true);
	walk_end_select(&f->end, c);
}

static bool is_settled(struct fixture *f, bool exact)
{
	return walk_end_is_settled(&f->end, 104, exact);
}

static void test_interesting(void **state)
{
	struct fixture f;

	begin(&f, 9, true);
	enter(&f, 8, true);
	enter(&f, 7, true);
	assert_false(is_settled(&f, false));
	leave(&f, 8, true);
	walk_end_select(&f.end, 8);
	assert_false(is_settled(&f, false));
	/* A have turns out to reach commit 7. */
	walk_end_lose(&f.end);
	assert_true(is_settled(&f, false));
	finish(&f);
}

static void test_nothing_selected(void **state)
{
	struct fixture f;

	begin(&f, 9, false);
	enter(&f, 8, false);
	assert_true(is_settled(&f, true));
	finish(&f);
}

static void test_generations(void **state)
{
	struct fixture f;

	begin(&f, 9, true);
	select_commit(&f, 5);
	select_commit(&f, 4);
	enter(&f, 4, false);
	assert_true(is_settled(&f, true));
	enter(&f, 6, false);
	enter(&f, 5, false);
	assert_false(is_settled(&f, true));
	leave(&f, 6, false);
	assert_false(is_settled(&f, true));
	leave(&f, 5, false);
	assert_true(is_settled(&f, true));
	/* After damage in the commit-graph, no generation number counts. */
	f.d.h.lacks_generations = true;
	assert_false(is_settled(&f, true));
	leave(&f, 4, false);
	assert_true(is_settled(&f, true));
	finish(&f);
}

static void test_parents_of_only_commit(void **state)
{
	struct fixture f;

	begin(&f, 9, false);
	select_commit(&f, 5);
	enter(&f, 4, false);
	assert_true(is_settled(&f, true));
	enter(&f, 3, false);
	assert_false(is_settled(&f, true));
	finish(&f);

	begin(&f, 9, false);
	select_commit(&f, 6);
	select_commit(&f, 5);
	enter(&f, 4, false);
	assert_false(is_settled(&f, true));
	finish(&f);
}

static void test_many_parents(void **state)
{
	uint32_t parents[WALK_END_BELOW_MAX + 1], merge;
	struct fixture f;

	for (uint32_t nr = WALK_END_BELOW_MAX; nr <= WALK_END_BELOW_MAX + 1;
	     nr++) {
		begin(&f, nr, false);
		for (uint32_t i = 0; i < nr; i++)
			parents[i] = i;
		merge = dag_add(&f.d, 200, false, parents, nr);
		select_commit(&f, merge);
		enter(&f, nr - 1, false);
		assert_int_equal(is_settled(&f, true),
				 nr <= WALK_END_BELOW_MAX);
		finish(&f);
	}
}

static void test_slop(void **state)
{
	struct fixture f;

	begin(&f, 9, false);
	select_commit(&f, 5);
	select_commit(&f, 4);
	enter(&f, 3, false);
	for (int i = 1; i < SLOP; i++)
		assert_false(is_settled(&f, false));
	/* A newer commit in the queue starts the count again. */
	enter(&f, 8, false);
	assert_false(is_settled(&f, false));
	leave(&f, 8, false);
	for (int i = 0; i < 2 * SLOP; i++)
		assert_false(is_settled(&f, true));
	for (int i = 1; i < SLOP; i++)
		assert_false(is_settled(&f, false));
	assert_true(is_settled(&f, false));
	finish(&f);
}

/* The only commit of a history has no parents, and nothing is queued. */
static void test_one_commit(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1, false);
	select_commit(&f, 0);
	assert_true(walk_end_is_settled(&f.end, 100, true));
	finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_commit),
		cmocka_unit_test(test_interesting),
		cmocka_unit_test(test_nothing_selected),
		cmocka_unit_test(test_generations),
		cmocka_unit_test(test_parents_of_only_commit),
		cmocka_unit_test(test_many_parents),
		cmocka_unit_test(test_slop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
