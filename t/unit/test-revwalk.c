/* SPDX-License-Identifier: MIT */
/* walk/revwalk.c: walks of random histories against marking. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/dag.h"
#include "walk/revwalk.h"

#define COMMITS 60

struct expected {
	bool wanted[COMMITS], had[COMMITS];
};

static size_t choose(uint32_t *tips, bool *set, struct dag *d, uint64_t *seed,
		     uint32_t max)
{
	size_t nr = random_next(seed) % (max + 1);

	memset(set, 0, COMMITS * sizeof(*set));
	for (size_t i = 0; i < nr; i++) {
		tips[i] = (uint32_t)(random_next(seed) % d->h.nr);
		dag_ancestors(d, set, tips[i]);
	}
	return nr;
}

static void check(struct dag *d, const struct revwalk_result *result,
		  const struct expected *e)
{
	bool found[COMMITS] = {false}, edge[COMMITS] = {false};

	for (size_t i = 0; i < result->nr; i++) {
		assert_false(found[result->commits[i]]);
		found[result->commits[i]] = true;
	}
	for (size_t i = 0; i < result->boundary_nr; i++) {
		assert_false(edge[result->boundary[i]]);
		edge[result->boundary[i]] = true;
		assert_true(e->had[result->boundary[i]]);
	}
	for (uint32_t c = 0; c < d->h.nr; c++) {
		assert_int_equal(found[c], e->wanted[c] && !e->had[c]);
		for (uint32_t i = 0; found[c] && i < d->h.commits[c].parent_nr;
		     i++) {
			uint32_t p = history_parents(&d->h, c)[i];

			assert_true(found[p] || edge[p]);
		}
	}
}

static void run(bool skewed, bool exact)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 300; round++) {
		uint32_t wants[6], haves[6];
		struct revwalk_result result = REVWALK_RESULT_INIT;
		struct revwalk_tips tips = {wants, 0, haves, 0};
		struct expected e;
		struct dag d;

		dag_init(&d);
		dag_random(&d, COMMITS, false, &seed);
		for (uint32_t c = 0; skewed && c < COMMITS; c++)
			d.h.commits[c].date = random_next(&seed) % 5000;
		tips.want_nr = choose(wants, e.wanted, &d, &seed, 5);
		tips.have_nr = choose(haves, e.had, &d, &seed, 5);
		assert_int_equal(revwalk_run(&result, &d.h, &tips, exact, NULL),
				 0);
		check(&d, &result, &e);
		revwalk_result_release(&result);
		dag_release(&d);
	}
}

static void sane_dates(void **state)
{
	run(false, false);
}

static void exact_whatever_the_dates(void **state)
{
	run(true, true);
}

static void newest_first(void **state)
{
	uint64_t seed = random_seed();
	struct revwalk_result result = REVWALK_RESULT_INIT;
	uint32_t tip = COMMITS - 1;
	struct revwalk_tips tips = {&tip, 1, NULL, 0};
	struct dag d;

	dag_init(&d);
	dag_random(&d, COMMITS, false, &seed);
	assert_int_equal(revwalk_run(&result, &d.h, &tips, false, NULL), 0);
	for (size_t i = 1; i < result.nr; i++)
		assert_true(d.h.commits[result.commits[i - 1]].date >=
			    d.h.commits[result.commits[i]].date);
	revwalk_result_release(&result);
	dag_release(&d);
}

static void parents_come_first(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 100; round++) {
		uint32_t commits[COMMITS];
		bool before[COMMITS] = {false};
		size_t nr = 0;
		struct dag d;

		dag_init(&d);
		dag_random(&d, COMMITS, false, &seed);
		for (uint32_t c = COMMITS; c-- > 0;)
			if (random_next(&seed) % 3)
				commits[nr++] = c;
		assert_int_equal(revwalk_parents_first(&d.h, commits, nr, NULL,
						       0, NULL, NULL),
				 0);
		for (size_t i = 0; i < nr; i++) {
			uint32_t c = commits[i];

			assert_false(before[c]);
			before[c] = true;
			for (uint32_t k = 0; k < d.h.commits[c].parent_nr; k++)
				for (size_t j = i + 1; j < nr; j++)
					assert_int_not_equal(
						commits[j],
						history_parents(&d.h, c)[k]);
		}
		dag_release(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sane_dates),
		cmocka_unit_test(exact_whatever_the_dates),
		cmocka_unit_test(newest_first),
		cmocka_unit_test(parents_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
