/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/merge-bases.c: the merge bases of random pairs of commits are
 * compared with a recursive search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/dag.h"
#include "t/unit/randrepo.h"
#include "walk/merge-bases.h"

#define COMMITS 60

/*
 * Makes a history of some roots and many merges. The parents of a merge are at
 * most a few commits older.
 */
static void make(struct dag *d, uint64_t *seed)
{
	dag_init(d);
	for (uint32_t i = 0; i < COMMITS; i++) {
		uint32_t parents[3];
		uint32_t nr = i ? (uint32_t)(random_next(seed) % 4) : 0;

		for (uint32_t k = 0; k < nr; k++)
			parents[k] = i - 1 -
				     (uint32_t)(random_next(seed) %
						(i < 8 ? i : 8));
		dag_add(d, 1000 + i, false, parents, nr);
	}
}

static bool is_behind(const struct dag *d, uint32_t commit, uint32_t other)
{
	bool seen[COMMITS] = {false};

	dag_ancestors(d, seen, other);
	return commit != other && seen[commit];
}

/*
 * Checks the merge bases of the commits `one` and `other`: exactly those common
 * ancestors that no other common ancestor reaches.
 */
static void check(struct dag *d, uint32_t one, uint32_t other)
{
	bool a[COMMITS] = {false}, b[COMMITS] = {false};
	bool found[COMMITS] = {false};
	uint32_t *bases;
	size_t nr;

	dag_ancestors(d, a, one);
	dag_ancestors(d, b, other);
	assert_int_equal(merge_bases(&bases, &nr, &d->h, one, other, NULL), 0);
	for (size_t i = 0; i < nr; i++) {
		assert_false(found[bases[i]]);
		assert_true(!i || bases[i] < bases[i - 1]);
		found[bases[i]] = true;
	}
	for (uint32_t c = 0; c < COMMITS; c++) {
		bool is_base = a[c] && b[c];

		for (uint32_t k = 0; k < COMMITS && is_base; k++)
			is_base = !a[k] || !b[k] || !is_behind(d, c, k);
		assert_int_equal(found[c], is_base);
	}
	free(bases);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 8; i++) {
		struct dag d;

		make(&d, &seed);
		for (int pair = 0; pair < 12; pair++)
			check(&d, (uint32_t)(random_next(&seed) % COMMITS),
			      (uint32_t)(random_next(&seed) % COMMITS));
		check(&d, COMMITS - 1, COMMITS - 1);
		dag_release(&d);
	}
}

/*
 * Finds the merge bases of objects that are given by their ids. The merge base
 * of a commit and itself is this commit. For a commit and a blob, the call must
 * fail.
 */
static void test_ids(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	const struct oid *tip, *first;
	struct oid *bases;
	struct randrepo r;
	struct odb *odb;
	size_t nr;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 12);
	randrepo_store_pack(&r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	first = &r.objects[r.commits[0]].oid;
	tip = &r.objects[r.commits[r.commit_nr - 1]].oid;
	assert_int_equal(merge_bases_of(&bases, &nr, odb, tip, tip, NULL), 0);
	assert_int_equal(nr, 1);
	assert_true(oid_equal(&bases[0], tip));
	free(bases);
	for (uint32_t i = 0; i < r.nr; i++) {
		if (r.objects[i].type != OBJ_BLOB)
			continue;
		assert_int_equal(merge_bases_of(&bases, &nr, odb, first,
						&r.objects[i].oid, &err),
				 ERR_INVALID);
		assert_null(bases);
		assert_non_null(strstr(err.msg, "is not a commit"));
		break;
	}
	odb_close(odb);
	randrepo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
