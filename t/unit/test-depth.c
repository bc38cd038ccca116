/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/depth.c, which finds the shallow boundary of a request. They
 * prove that the results for random histories equal those of slow computations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/dag.h"

#include "walk/depth.h"

#define COMMITS 60

struct expected {
	bool shallow[COMMITS], inside[COMMITS];
};

static void compare(const struct depth_result *r, const struct expected *e)
{
	bool shallow[COMMITS] = {false};

	for (size_t i = 0; i < r->shallow_nr; i++) {
		assert_false(shallow[r->shallow[i]]);
		shallow[r->shallow[i]] = true;
	}
	for (uint32_t i = 0; i < COMMITS; i++) {
		assert_int_equal(shallow[i], e->shallow[i]);
		assert_int_equal(bitset_get(&r->inside, i), e->inside[i]);
	}
}

/*
 * Computes distances from the tips by repeated passes over all commits, until
 * no distance changes.
 */
static void slow_distance(struct expected *e, const struct dag *d,
			  const uint32_t *from, size_t nr, uint32_t depth)
{
	uint32_t dist[COMMITS];

	memset(dist, 0xff, sizeof(dist));
	for (size_t i = 0; i < nr; i++)
		dist[from[i]] = 1;
	for (uint32_t c = COMMITS; c-- > 0;)
		for (uint32_t k = 0; k < d->h.commits[c].parent_nr; k++) {
			uint32_t p = history_parents(&d->h, c)[k];

			if (dist[c] != UINT32_MAX && dist[c] + 1 < dist[p])
				dist[p] = dist[c] + 1;
		}
	for (uint32_t c = 0; c < COMMITS; c++) {
		e->shallow[c] = dist[c] == depth && depth != DEPTH_INFINITE;
		e->inside[c] = dist[c] < depth;
	}
}

/*
 * Sets selected[] for commit `c` and its ancestors. Stops at commits in
 * left_out[], and at commits that are older than limits->since.
 */
static void slow_select(bool *selected, const struct dag *d,
			const struct depth_limits *limits, const bool *left_out,
			uint32_t c)
{
	if (selected[c] || left_out[c] ||
	    (limits->has_since && d->h.commits[c].date < limits->since))
		return;
	selected[c] = true;
	for (uint32_t k = 0; k < d->h.commits[c].parent_nr; k++)
		slow_select(selected, d, limits, left_out,
			    history_parents(&d->h, c)[k]);
}

/*
 * Visits commit `c`, and marks it as inside if all its parents are selected,
 * otherwise as shallow. The parents of a commit that is inside are visited,
 * too.
 */
static void slow_classify(struct expected *e, const struct dag *d,
			  const bool *selected, uint32_t c)
{
	const uint32_t *parents = history_parents(&d->h, c);
	uint32_t nr = d->h.commits[c].parent_nr;

	for (uint32_t k = 0; k < nr; k++)
		e->shallow[c] |= !selected[parents[k]];
	e->inside[c] = !e->shallow[c];
	for (uint32_t k = 0; k < nr && e->inside[c]; k++)
		slow_classify(e, d, selected, parents[k]);
}

static void slow_cut(struct expected *e, const struct dag *d,
		     const uint32_t *from, size_t nr,
		     const struct depth_limits *limits)
{
	bool selected[COMMITS] = {false}, left_out[COMMITS] = {false};

	memset(e, 0, sizeof(*e));

	for (size_t i = 0; i < limits->not_nr; i++)
		dag_ancestors(d, left_out, limits->nots[i]);
	for (size_t i = 0; i < nr; i++)
		slow_select(selected, d, limits, left_out, from[i]);
	for (size_t i = 0; i < nr; i++)
		if (selected[from[i]])
			slow_classify(e, d, selected, from[i]);
}

static void pick(uint32_t *out, size_t nr, uint64_t *seed)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = (uint32_t)(random_next(seed) % COMMITS);
}

static void test_distance(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 100; i++) {
		struct depth_result r = DEPTH_RESULT_INIT;
		uint32_t depth = (uint32_t)(random_next(&seed) % 12) + 1;
		struct expected e;
		uint32_t from[3];
		struct dag d;

		dag_init(&d);
		dag_random(&d, COMMITS, false, &seed);
		pick(from, 3, &seed);
		if (depth == 12)
			depth = DEPTH_INFINITE;
		assert_int_equal(
			depth_by_distance(&r, &d.h, from, 3, depth, NULL), 0);
		slow_distance(&e, &d, from, 3, depth);
		compare(&r, &e);
		depth_result_release(&r);
		dag_release(&d);
	}
}

static void test_nearest(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 200; i++) {
		uint32_t from[3], targets[3], nearest, got = 77;
		size_t target_nr = random_next(&seed) % 4;
		struct dag d;
		int ret;

		dag_init(&d);
		dag_random(&d, COMMITS, false, &seed);
		pick(from, 3, &seed);
		pick(targets, 3, &seed);
		for (nearest = 1; nearest <= COMMITS; nearest++) {
			struct expected e;
			bool found = false;

			slow_distance(&e, &d, from, 3, nearest);
			for (size_t k = 0; k < target_nr; k++)
				found |= e.shallow[targets[k]];
			if (found)
				break;
		}
		ret = depth_find_nearest(&got, &d.h, from, 3, targets,
					 target_nr, NULL);
		assert_int_equal(ret, nearest > COMMITS);
		assert_int_equal(got, nearest > COMMITS ? 0 : nearest);
		dag_release(&d);
	}
}

static void test_cut(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 100; i++) {
		struct depth_result r = DEPTH_RESULT_INIT;
		uint32_t from[3], nots[2];
		struct depth_limits limits = {
			.nots = nots,
			.not_nr = random_next(&seed) % 3,
			.has_since = random_next(&seed) % 2,
			.since = 1000 + random_next(&seed) % COMMITS,
		};
		struct expected e;
		struct dag d;

		dag_init(&d);
		dag_random(&d, COMMITS, false, &seed);
		pick(from, 3, &seed);
		pick(nots, 2, &seed);
		assert_int_equal(
			depth_by_limits(&r, &d.h, from, 3, &limits, NULL), 0);
		slow_cut(&e, &d, from, 3, &limits);
		compare(&r, &e);
		depth_result_release(&r);
		dag_release(&d);
	}
}

/* A request of depth 1 reads no commit object. */
static void test_depth_one_reads_nothing(void **state)
{
	struct depth_result r = DEPTH_RESULT_INIT;
	struct dag d;
	uint32_t c;

	dag_init(&d);
	c = dag_add(&d, 1, false, NULL, 0);
	/* The test would crash if the commit was read. */
	d.h.commits[c].parsed = false;
	assert_int_equal(depth_by_distance(&r, &d.h, &c, 1, 1, NULL), 0);
	assert_int_equal(r.shallow_nr, 1);
	depth_result_release(&r);
	dag_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_depth_one_reads_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
