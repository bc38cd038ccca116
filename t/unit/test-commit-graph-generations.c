/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph-write/commit-graph-generations.c, which computes generation
 * numbers. They prove that the numbers of random graphs equal those of a slow
 * computation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "graph-write/graph-content.h"
#include "t/unit/random.h"

#define NR 80
#define BELOW 7 /* commits in a layer below */

struct graph {
	struct commit_graph_record records[NR];
	uint32_t parents[NR * 4];
	uint32_t parent_nr;
};

static uint64_t below_date(uint32_t graph_pos)
{
	return 5000 + 100 * graph_pos;
}

static int below(void *ctx, uint32_t graph_pos,
		 struct commit_graph_generation *generation, struct error *err)
{
	if (ctx)
		return error_set(err, ERR_CORRUPT, "a bad layer");
	assert_true(graph_pos < BELOW);
	*generation = (struct commit_graph_generation){below_date(graph_pos),
						       graph_pos + 1};
	return 0;
}

/*
 * Makes a random graph. The positions of commits are shuffled, so that some
 * parents come before their children and some after.
 */
static void make(struct graph *g, uint64_t *seed)
{
	uint32_t place[NR];

	memset(g, 0, sizeof(*g));
	for (uint32_t i = 0; i < NR; i++) {
		uint32_t other = (uint32_t)(random_next(seed) % (i + 1));

		place[i] = place[other];
		place[other] = i;
	}
	for (uint32_t i = 0; i < NR; i++) {
		struct commit_graph_record *r = &g->records[place[i]];

		r->date = random_next(seed) % 10000;
		r->first_parent = g->parent_nr;
		r->parent_nr = (uint32_t)(random_next(seed) % 4);
		for (uint32_t k = 0; k < r->parent_nr; k++) {
			uint32_t to = (uint32_t)(random_next(seed) %
						 (i + BELOW));

			g->parents[g->parent_nr++] =
				to < BELOW ? to : BELOW + place[to - BELOW];
		}
	}
}

/*
 * Sets *out to the generation numbers of a commit. Computes them recursively,
 * by their definition.
 */
static void slow(const struct graph *g, uint32_t graph_pos,
		 struct commit_graph_generation *out)
{
	const struct commit_graph_record *r;

	if (graph_pos < BELOW) {
		below(NULL, graph_pos, out, NULL);
		return;
	}
	r = &g->records[graph_pos - BELOW];
	out->number = 1;
	out->corrected = r->date ? r->date : 1;
	for (uint32_t i = 0; i < r->parent_nr; i++) {
		struct commit_graph_generation p;

		slow(g, g->parents[r->first_parent + i], &p);
		if (p.number >= out->number)
			out->number = p.number + 1;
		if (p.corrected >= out->corrected)
			out->corrected = p.corrected + 1;
	}
}

static struct commit_graph_generations generations_of(struct graph *g)
{
	return (struct commit_graph_generations){
		.records = g->records,
		.nr = NR,
		.parents = g->parents,
		.below_nr = BELOW,
		.below = below,
	};
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 40; round++) {
		struct commit_graph_generations l;
		struct graph g;

		make(&g, &seed);
		l = generations_of(&g);
		assert_int_equal(commit_graph_generations_compute(&l, NULL), 0);
		for (uint32_t i = 0; i < NR; i += 3) {
			struct commit_graph_generation want;

			slow(&g, BELOW + i, &want);
			assert_int_equal(g.records[i].generation, want.number);
			assert_true(g.records[i].corrected == want.corrected);
		}
	}
}

static void test_cap(void **state)
{
	struct commit_graph_record records[2] = {
		{.generation = COMMIT_GRAPH_GENERATION_MAX,
		 .corrected = 10,
		 .date = 10},
		{.date = 3, .first_parent = 0, .parent_nr = 1},
	};
	const uint32_t parents[] = {0};
	const struct commit_graph_generations l = {
		.records = records, .nr = 2, .parents = parents};

	assert_int_equal(commit_graph_generations_compute(&l, NULL), 0);
	assert_int_equal(records[1].generation, COMMIT_GRAPH_GENERATION_MAX);
	assert_true(records[1].corrected == 11);
}

/* A corrected date has no greater one. So the child gets the same. */
static void test_last_date(void **state)
{
	struct commit_graph_record records[2] = {
		{.date = UINT64_MAX},
		{.date = 3, .first_parent = 0, .parent_nr = 1},
	};
	const uint32_t parents[] = {0};
	const struct commit_graph_generations l = {
		.records = records, .nr = 2, .parents = parents};

	assert_int_equal(commit_graph_generations_compute(&l, NULL), 0);
	assert_true(records[0].corrected == UINT64_MAX);
	assert_true(records[1].corrected == UINT64_MAX);
	assert_int_equal(records[1].generation, 2);
}

static void test_bad(void **state)
{
	struct commit_graph_record records[3] = {
		{.first_parent = 0, .parent_nr = 1},
		{.first_parent = 1, .parent_nr = 1},
		{.first_parent = 2, .parent_nr = 1},
	};
	uint32_t cycle[] = {1, 2, 0}, outside[] = {1, 3, 0}, low[] = {2, 3, 0};
	struct commit_graph_generations l = {
		.records = records, .nr = 3, .parents = cycle};
	struct error err = ERROR_INIT;

	assert_int_equal(commit_graph_generations_compute(&l, &err),
			 ERR_CORRUPT);
	l.parents = outside;
	assert_int_equal(commit_graph_generations_compute(&l, &err),
			 ERR_CORRUPT);
	records[2].parent_nr = 1;
	l.parents = low;
	l.below_nr = 1;
	l.below = below;
	l.ctx = &l;
	assert_int_equal(commit_graph_generations_compute(&l, &err),
			 ERR_CORRUPT);
	assert_string_equal(err.msg, "a bad layer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_cap),
		cmocka_unit_test(test_last_date),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
