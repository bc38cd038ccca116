/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph-write/graph-lacks.c, which counts the commits that a
 * commit-graph lacks. They prove that the numbers equal those of a recursive
 * search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph-write/commit-graph-write.h"
#include "t/unit/writtengraph.h"

static int lacks(const struct walkrepo *f, uint64_t limit)
{
	return graph_lacks_commits(&f->h.r.t.repo, limit, NULL);
}

/* Checks that the commit-graph lacks exactly `nr` reachable commits. */
static void check(const struct walkrepo *f, uint64_t nr)
{
	if (nr)
		assert_int_equal(lacks(f, nr), 1);
	assert_int_equal(lacks(f, nr + 1), 0);
	assert_int_equal(lacks(f, UINT64_MAX), 0);
}

/*
 * Returns the number of commits that commit `tip` reaches. Only commits with an
 * index from `first` on are counted.
 */
static uint32_t count_from(const struct walkrepo *f, uint32_t first,
			   uint32_t tip)
{
	bool *reached = walkrepo_set();
	uint32_t nr = 0;

	randrepo_reach(&f->h.r, reached, tip);
	for (uint32_t i = first; i < f->h.r.nr; i++)
		nr += reached[i] && f->h.r.objects[i].type == OBJ_COMMIT;
	free(reached);
	return nr;
}

static void run(enum hash_algo algo)
{
	struct writtengraph g;
	struct randrepo *r = &g.f.h.r;
	uint32_t known, tip;

	writtengraph_init(&g, algo);
	check(&g.f, 0);
	known = r->nr;
	randhist_grow_by(&g.f.h, 20, true);
	tip = randrepo_tag(r, r->commits[r->commit_nr - 1]);
	randrepo_store(r);
	/*
	 * No ref reaches the new commits yet, so they do not count as missing
	 * from the commit-graph.
	 */
	check(&g.f, 0);
	randrepo_ref(r, "refs/tags/new", tip);
	check(&g.f, count_from(&g.f, known, tip));
	writtengraph_release(&g);
}

static void test_random(void **state)
{
	run(HASH_SHA1);
	run(HASH_SHA256);
}

/*
 * Refs to missing objects, and refs to objects that are no commits, are
 * ignored. If the repository has no commit-graph, all reachable commits are
 * counted as missing.
 */
static void test_odd_refs(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo f;
	uint32_t blob;

	walkrepo_init(&f, HASH_SHA1, &seed, 0, 5);
	check(&f, 0);
	blob = randrepo_blob(&f.h.r, 3);
	randrepo_store(&f.h.r);
	randrepo_ref(&f.h.r, "refs/tags/blob", blob);
	tmprepo_write(&f.h.r.t, "refs/heads/gone",
		      "1234567812345678123456781234567812345678\n");
	tmprepo_write(&f.h.r.t, "refs/heads/odd", "no id\n");
	check(&f, 0);
	randrepo_all_refs(&f.h.r);
	check(&f, f.h.r.commit_nr);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_odd_refs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
