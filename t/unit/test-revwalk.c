/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/revwalk.c, which walks over commits. The results of random
 * requests are compared with a recursive search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/dag.h"
#include "t/unit/walkrepo.h"
#include "walk/revwalk.h"

#define COMMITS 200

/* Marks the ancestors of some commits in `seen`. */
static void reach_all(const struct dag *d, bool *seen, const uint32_t *from,
		      size_t nr)
{
	memset(seen, 0, COMMITS * sizeof(*seen));
	for (size_t i = 0; i < nr; i++)
		dag_ancestors(d, seen, from[i]);
}

static void check_result(const struct dag *d, const struct revwalk_tips *tips,
			 const struct revwalk_result *result, bool in_order)
{
	bool want[COMMITS], have[COMMITS], found[COMMITS] = {false};
	bool boundary[COMMITS] = {false};

	reach_all(d, want, tips->wants, tips->want_nr);
	reach_all(d, have, tips->haves, tips->have_nr);
	for (size_t i = 0; i < result->nr; i++) {
		uint32_t c = result->commits[i];

		assert_false(found[c]);
		found[c] = true;
		if (i && in_order)
			assert_true(d->h.commits[result->commits[i - 1]].date >=
				    d->h.commits[c].date);
		for (uint32_t k = 0; k < d->h.commits[c].parent_nr; k++)
			boundary[history_parents(&d->h, c)[k]] = true;
	}
	for (uint32_t c = 0; c < COMMITS; c++)
		assert_int_equal(found[c], want[c] && !have[c]);
	for (size_t i = 0; i < result->boundary_nr; i++) {
		uint32_t c = result->boundary[i];

		assert_true(boundary[c] && have[c]);
		boundary[c] = false;
	}
	for (uint32_t c = 0; c < COMMITS; c++)
		assert_false(boundary[c] && have[c]);
}

/*
 * Checks the order of the commits. Children come after their parents. First
 * come the commits that the first tip reaches, then those that the second tip
 * adds, and so on.
 */
static void check_parents_first(const struct dag *d,
				const struct revwalk_tips *tips,
				struct revwalk_result *result)
{
	bool done[COMMITS] = {false}, listed[COMMITS] = {false};
	size_t at = 0, trunk_nr = 12345;

	for (size_t i = 0; i < result->nr; i++)
		listed[result->commits[i]] = true;
	assert_int_equal(revwalk_parents_first(&d->h, result->commits,
					       result->nr, tips->wants,
					       tips->want_nr, &trunk_nr, NULL),
			 0);
	for (size_t i = 0; i < result->nr; i++) {
		uint32_t c = result->commits[i];

		assert_true(listed[c] && !done[c]);
		done[c] = true;
		for (uint32_t k = 0; k < d->h.commits[c].parent_nr; k++) {
			uint32_t p = history_parents(&d->h, c)[k];

			assert_true(done[p] || !listed[p]);
		}
	}
	for (size_t i = 0; i < tips->want_nr; i++) {
		bool reached[COMMITS] = {false};

		dag_ancestors(d, reached, tips->wants[i]);
		while (at < result->nr && reached[result->commits[at]])
			at++;
		for (size_t k = at; k < result->nr; k++)
			assert_false(reached[result->commits[k]]);
		if (!i)
			assert_int_equal(trunk_nr, at);
	}
	if (!tips->want_nr)
		assert_int_equal(trunk_nr, 0);
}

static size_t random_tips(uint32_t *out, size_t max, uint64_t *seed)
{
	size_t nr = random_next(seed) % (max + 1);

	for (size_t i = 0; i < nr; i++)
		out[i] = random_next(seed) % 3
				 ? COMMITS - 1 - random_next(seed) % 20
				 : random_next(seed) % COMMITS;
	return nr;
}

static void one_request(struct dag *d, bool exact, uint64_t *seed)
{
	struct revwalk_result result = REVWALK_RESULT_INIT;
	uint32_t wants[6], haves[5];
	struct revwalk_tips tips = {
		wants,
		random_tips(wants, 6, seed),
		haves,
		random_tips(haves, 5, seed),
	};

	assert_int_equal(revwalk_run(&result, &d->h, &tips, exact, NULL), 0);
	check_result(d, &tips, &result, !exact);
	check_parents_first(d, &tips, &result);
	revwalk_result_release(&result);
}

/*
 * With a small limit, revwalk_within() returns 1: the walk did not end within
 * the limit. From some limit on, it returns 0 with the complete result.
 */
static void walks_within_limits(void **state)
{
	uint64_t seed = random_seed();
	unsigned both = 0;
	struct dag d;

	dag_init(&d);
	dag_random(&d, COMMITS, false, &seed);
	for (int i = 0; i < 100; i++) {
		struct revwalk_result whole = REVWALK_RESULT_INIT;
		uint32_t tips_at[2] = {
			(uint32_t)(COMMITS - 1 - random_next(&seed) % 20),
			(uint32_t)(random_next(&seed) % COMMITS),
		};
		struct revwalk_tips tips = {tips_at, 1, tips_at + 1, 1};
		int ret = 1;

		assert_int_equal(revwalk_run(&whole, &d.h, &tips, false, NULL),
				 0);
		for (size_t limit = 0; limit <= COMMITS; limit++) {
			struct revwalk_result part = REVWALK_RESULT_INIT;
			int now = revwalk_within(&part, &d.h, &tips, limit,
						 NULL);

			assert_true(now == ret || (ret == 1 && !now));
			assert_true(part.nr <= limit &&
				    (!now || !part.boundary_nr));
			both += now != ret;
			ret = now;
			if (!now) {
				assert_int_equal(part.nr, whole.nr);
				check_result(&d, &tips, &part, true);
			}
			revwalk_result_release(&part);
		}
		assert_int_equal(ret, 0);
		revwalk_result_release(&whole);
	}
	assert_true(both > 50);
	dag_release(&d);
}

/* Changes the dates of some commits by a large amount. */
static void skew(struct dag *d, uint64_t *seed)
{
	for (size_t i = 0; i < d->h.nr; i++)
		if (random_next(seed) % 6 == 0)
			d->h.commits[i].date = random_next(seed) % 2000;
}

/*
 * Gives commits generation numbers like those of a commit-graph in which the
 * newest commits are missing.
 */
static void set_generations(struct dag *d, uint64_t *seed)
{
	size_t known = random_next(seed) % (COMMITS + 1);

	for (uint32_t c = 0; c < known; c++) {
		uint32_t generation = 1;

		for (uint32_t k = 0; k < d->h.commits[c].parent_nr; k++) {
			uint32_t p = history_parents(&d->h, c)[k];

			assert_true(p < c);
			if (d->h.commits[p].generation >= generation)
				generation = d->h.commits[p].generation + 1;
		}
		d->h.commits[c].generation = generation;
	}
	/*
	 * One commit gets an unknown generation number, like a commit with too
	 * many parents for the commit-graph.
	 */
	if (known && random_next(seed) % 3 == 0) {
		d->h.commits[random_next(seed) % known].generation =
			HISTORY_GENERATION_UNKNOWN;
		d->h.lacks_generations = true;
	}
}

static void random_requests(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 40; i++) {
		bool exact = i & 1;
		struct dag d;

		dag_init(&d);
		dag_random(&d, COMMITS, false, &seed);
		if (exact)
			skew(&d, &seed);
		if (i & 2)
			set_generations(&d, &seed);
		for (int k = 0; k < 50; k++)
			one_request(&d, exact, &seed);
		dag_release(&d);
	}
}

/*
 * If `exact` is false, the walk does not end as soon as the dates allow it, but
 * visits some more commits. So the result is right even if a few dates are
 * wrong.
 */
static void slight_skew(void **state)
{
	struct revwalk_result result = REVWALK_RESULT_INIT;
	uint32_t c[8], side, want, have;
	struct revwalk_tips tips = {&want, 1, &have, 1};
	struct dag d;

	/*
	 * The have reaches most commits that the want reaches, but only by way
	 * of `side`, which has an old date. The walk must follow this way
	 * nevertheless.
	 */
	dag_init(&d);
	c[0] = dag_add(&d, 100, false, NULL, 0);
	for (int i = 1; i < 8; i++)
		c[i] = dag_add(&d, 100 + (uint64_t)i, false, &c[i - 1], 1);
	side = dag_add(&d, 50, false, &c[5], 1);
	have = dag_add(&d, 200, false, &side, 1);
	want = c[7];
	assert_int_equal(revwalk_run(&result, &d.h, &tips, false, NULL), 0);
	assert_int_equal(result.nr, 2);
	assert_int_equal(result.boundary_nr, 1);
	assert_int_equal(result.boundary[0], c[5]);
	revwalk_result_release(&result);
	dag_release(&d);
}

/*
 * Adds chains of commits. They are so long that threads decode commits ahead of
 * the walk.
 */
static void grow_chains(struct randhist *h, uint32_t nr)
{
	struct randtree none = {.nr = 0};
	uint32_t tree = randtree_store(&h->r, &none, "");

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t parents[2], n = 0;

		if (i)
			parents[n++] = h->r.commits[i - 1];
		if (i > 20 && i % 3 == 0)
			parents[n++] = h->r.commits[i - 20];
		if (i % 100 == 99)
			n = 0;
		randhist_commit_tree(&h->r, tree, parents, n, 1000 + i / 2);
	}
}

/* Whether threads decode commits ahead must not change the result. */
static void long_walks(void **state)
{
	struct revwalk_result results[4] = {0};
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct walkrepo f;
	uint32_t wants[12];

	randhist_init(&f.h, HASH_SHA1, &seed);
	grow_chains(&f.h, 1500);
	randtree_store_packs(&f.h.r);
	walkrepo_open(&f);
	for (unsigned t = 0; t < 4; t++) {
		struct revwalk_tips tips = {wants, ARRAY_NR(wants), NULL, 0};
		bool ahead = t != 1;

		f.w.history.threads = t;
		for (uint32_t i = 0; i < ARRAY_NR(wants); i++)
			wants[i] = walkrepo_commit(
				&f, f.h.r.commits[1499 - 110 * i]);
		if (revwalk_run(&results[t], &f.w.history, &tips, false, &err))
			fail_msg("%s", err.msg);
		assert_true(results[t].nr > 1200);
		if (t)
			assert_int_equal(!!f.w.history.ahead, ahead);
		assert_int_equal(results[t].nr, results[0].nr);
		assert_memory_equal(results[t].commits, results[0].commits,
				    results[0].nr * sizeof(uint32_t));
		walkrepo_reopen(&f);
	}
	for (unsigned t = 0; t < 4; t++)
		revwalk_result_release(&results[t]);
	walkrepo_release(&f);
}

/*
 * A missing commit is an error if the wants reach it. There are two exceptions.
 * It is no error if only haves reach the missing commit. It is also no error if
 * each want that reaches the missing commit is an ancestor of a have. The dates
 * of the commits do not matter.
 */
static void missing_commits(void **state)
{
	uint64_t seed = random_seed();
	struct randtree none = {.nr = 0};
	struct error err = ERROR_INIT;
	struct walkrepo f;
	uint32_t tree, root, gap, top, other, child;

	randhist_init(&f.h, HASH_SHA1, &seed);
	tree = randtree_store(&f.h.r, &none, "");
	root = randhist_commit_tree(&f.h.r, tree, NULL, 0, 10);
	gap = randhist_commit_tree(&f.h.r, tree, &root, 1, 20);
	top = randhist_commit_tree(&f.h.r, tree, &gap, 1, 30);
	other = randhist_commit_tree(&f.h.r, tree, &root, 1, 40);
	child = randhist_commit_tree(&f.h.r, tree, &top, 1, 5);
	for (uint32_t i = 0; i < f.h.r.nr; i++)
		if (i != gap)
			randrepo_store_one(&f.h.r, "objects", i);
	walkrepo_open(&f);
	for (int exact = 0; exact < 2; exact++) {
		struct revwalk_result result = REVWALK_RESULT_INIT;
		uint32_t a = walkrepo_commit(&f, top);
		uint32_t b = walkrepo_commit(&f, other);
		uint32_t c = walkrepo_commit(&f, child);
		struct revwalk_tips tips = {&a, 1, &b, 1};

		assert_int_equal(
			revwalk_run(&result, &f.w.history, &tips, exact, &err),
			ERR_MISSING);
		assert_non_null(strstr(err.msg, "is missing"));
		revwalk_result_release(&result);
		tips = (struct revwalk_tips){&b, 1, &a, 1};
		assert_int_equal(
			revwalk_run(&result, &f.w.history, &tips, exact, &err),
			0);
		assert_int_equal(result.nr, 2);
		assert_int_equal(result.commits[0], b);
		revwalk_result_release(&result);
		tips = (struct revwalk_tips){&a, 1, &c, 1};
		assert_int_equal(
			revwalk_run(&result, &f.w.history, &tips, exact, &err),
			0);
		assert_int_equal(result.nr, 0);
		revwalk_result_release(&result);
	}
	walkrepo_release(&f);
}

/*
 * A want and a have are children of the commit `two`, and `two` reaches a
 * missing commit through the commit `one`. The walk meets `two` as the parent
 * of the want, before it meets `two` as the parent of the have. `one` is a
 * want, too. Before the walk visits `one`, it must know that the have reaches
 * the missing commit. This must be so even if all dates are equal.
 */
static void missing_below_known_commits(void **state)
{
	uint64_t seed = random_seed();
	struct randtree none = {.nr = 0};
	struct error err = ERROR_INIT;

	for (uint32_t step = 0; step < 2; step++) {
		struct revwalk_result result = REVWALK_RESULT_INIT;
		struct walkrepo f;
		uint32_t tree, gap, one, two, want, have, wants[2];

		randhist_init(&f.h, HASH_SHA1, &seed);
		tree = randtree_store(&f.h.r, &none, "");
		gap = randhist_commit_tree(&f.h.r, tree, NULL, 0, 10);
		one = randhist_commit_tree(&f.h.r, tree, &gap, 1, 10);
		two = randhist_commit_tree(&f.h.r, tree, &one, 1, 10);
		want = randhist_commit_tree(&f.h.r, tree, &two, 1,
					    10 + 2 * step);
		have = randhist_commit_tree(&f.h.r, tree, &two, 1, 10 + step);
		for (uint32_t i = 0; i < f.h.r.nr; i++)
			if (i != gap)
				randrepo_store_one(&f.h.r, "objects", i);
		walkrepo_open(&f);
		wants[0] = walkrepo_commit(&f, want);
		wants[1] = walkrepo_commit(&f, one);
		have = walkrepo_commit(&f, have);
		if (revwalk_run(&result, &f.w.history,
				&(struct revwalk_tips){wants, 2, &have, 1},
				false, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(result.nr, 1);
		assert_int_equal(result.commits[0], wants[0]);
		revwalk_result_release(&result);
		walkrepo_release(&f);
	}
}

static void nothing(void **state)
{
	struct revwalk_result result = REVWALK_RESULT_INIT;
	struct revwalk_tips tips = {NULL, 0, NULL, 0};
	struct dag d;

	dag_init(&d);
	assert_int_equal(revwalk_run(&result, &d.h, &tips, true, NULL), 0);
	assert_int_equal(result.nr + result.boundary_nr, 0);
	assert_int_equal(
		revwalk_parents_first(&d.h, NULL, 0, NULL, 0, NULL, NULL), 0);
	revwalk_result_release(&result);
	dag_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_requests),
		cmocka_unit_test(walks_within_limits),
		cmocka_unit_test(slight_skew),
		cmocka_unit_test(long_walks),
		cmocka_unit_test(missing_commits),
		cmocka_unit_test(missing_below_known_commits),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
