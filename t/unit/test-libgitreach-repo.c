/* SPDX-License-Identifier: MIT */
/*
 * Tests of libgitreach/repo.c, the public functions that open repositories. The
 * tests are about snapshots, and about threads that share a snapshot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "t/unit/apirepo.h"

static void opening(void **state)
{
	uint64_t seed = random_seed();
	gitreach_repo *repo;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA256, 10, &seed);
	apirepo_open(&a, GITREACH_OPEN_EXACT);
	assert_int_equal(gitreach_repo_hash(a.repo), GITREACH_SHA256);
	assert_int_equal(gitreach_repo_id_len(a.repo), 32);
	APIREPO_FAILS(&a, GITREACH_MISSING,
		      gitreach_repo_open(&repo, "/nowhere/at/all", 0, a.err));
	assert_null(repo);
	APIREPO_FAILS(&a, GITREACH_UNSUPPORTED,
		      gitreach_repo_open(&repo, a.r.t.dir, 1u << 30, a.err));
	APIREPO_FAILS(&a, GITREACH_INVALID,
		      gitreach_repo_open(&repo, NULL, 0, a.err));
	gitreach_repo_close(NULL);
	apirepo_release(&a);
}

/* A refresh makes a new snapshot. The old snapshot does not change. */
static void refreshing(void **state)
{
	uint64_t seed = random_seed();
	gitreach_repo *old;
	gitreach_query *q;
	gitreach_set *set;
	struct apirepo a;
	uint32_t nr;

	apirepo_make(&a, HASH_SHA1, 30, &seed);
	apirepo_open(&a, 0);
	nr = a.r.nr;
	assert_int_equal(gitreach_repo_has_changed(a.repo), 0);
	randrepo_history(&a.r, 5);
	randrepo_store_pack(&a.r);
	randrepo_all_refs(&a.r);
	old = a.repo;
	assert_int_equal(gitreach_repo_has_changed(old), 1);
	APIREPO_OK(&a, gitreach_repo_refresh(&a.repo, old, a.err));
	q = apirepo_query(&a, GITREACH_CHECK);
	APIREPO_OK(&a, gitreach_query_want_refs(q, "", a.err));
	set = apirepo_run(&a, q);
	assert_int_equal(gitreach_set_count(set, GITREACH_ANY_TYPE), a.r.nr);
	gitreach_set_free(set);
	gitreach_query_free(q);
	gitreach_repo_close(a.repo);
	a.repo = old;
	q = apirepo_query(&a, GITREACH_CHECK);
	APIREPO_OK(&a, gitreach_query_want(q, apirepo_id(&a, a.r.commits[20]),
					   20, a.err));
	set = apirepo_run(&a, q);
	assert_true(gitreach_set_count(set, GITREACH_ANY_TYPE) <= nr);
	gitreach_set_free(set);
	gitreach_query_free(q);
	apirepo_release(&a);
}

/*
 * If one bit of a bitmap is wrong, a query with GITREACH_CHECK fails. Other
 * queries do not notice.
 */
static void wrong_index(void **state)
{
	uint64_t seed = random_seed();
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t commit, wrong;
	gitreach_query *q;
	gitreach_set *set;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 60, &seed);
	bitmaprepo_write_wrong(&a.r, &commit, &wrong);
	apirepo_open(&a, 0);
	q = apirepo_query(&a, GITREACH_CHECK);
	APIREPO_OK(&a,
		   gitreach_query_want(q, apirepo_id(&a, commit), 20, a.err));
	APIREPO_FAILS(&a, GITREACH_CORRUPT, gitreach_query_run(&set, q, a.err));
	oid_to_hex(hex, &a.r.objects[wrong].oid, HASH_SHA1);
	assert_non_null(strstr(gitreach_error_message(a.err), hex));
	gitreach_query_free(q);
	apirepo_release(&a);
}

struct thread {
	pthread_t id;
	const struct apirepo *a;
	uint64_t seed;
	bool *want, *have;
	int failed;
};

/*
 * Runs queries in one of several threads, with the strategy `strategy`. Returns
 * 0 if all results are right. The function uses no assertions of cmocka,
 * because these are not thread-safe.
 */
static int ask(struct thread *t, int strategy)
{
	struct apirepo a = *t->a;
	uint64_t seed = t->seed;
	gitreach_set *set = NULL, *both = NULL;
	gitreach_query *q = NULL;
	gitreach_error *err = gitreach_error_new();
	uint32_t nr = a.r.commits[random_next(&seed) % a.r.commit_nr];
	int bad = 0;

	t->seed = seed;
	memset(t->want, 0, RANDREPO_MAX);
	randrepo_reach(&a.r, t->want, nr);
	bad |= gitreach_query_new(&q, a.repo, err);
	bad |= gitreach_query_set(q, GITREACH_STRATEGY, (uint64_t)strategy,
				  err);
	bad |= gitreach_query_have_name(q, "refs/none", NULL) != -4;
	bad |= gitreach_query_have_refs(q, "refs/none/", err);
	bad |= gitreach_query_want(q, apirepo_id(&a, nr), 20, err);
	bad |= gitreach_query_run(&set, q, err);
	for (uint32_t i = 0; i < a.r.nr && !bad; i++)
		bad |= gitreach_set_contains(set, apirepo_id(&a, i), 20) !=
		       t->want[i];
	bad |= gitreach_set_and(&both, set, set, err);
	gitreach_set_free(set);
	gitreach_set_free(both);
	gitreach_query_free(q);
	gitreach_error_free(err);
	return bad;
}

static void *ask_often(void *arg)
{
	struct thread *t = arg;

	for (int i = 0; i < 40 && !t->failed; i++)
		t->failed = ask(t, i % 4);
	return NULL;
}

static void threads_share_a_snapshot(void **state)
{
	struct thread threads[4];
	uint64_t seed = random_seed();
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 60, &seed);
	apirepo_open(&a, 0);
	for (size_t i = 0; i < ARRAY_NR(threads); i++) {
		threads[i] = (struct thread){.a = &a, .seed = seed + i};
		threads[i].want = calloc(RANDREPO_MAX, sizeof(bool));
		assert_non_null(threads[i].want);
		assert_int_equal(pthread_create(&threads[i].id, NULL, ask_often,
						&threads[i]),
				 0);
	}
	for (size_t i = 0; i < ARRAY_NR(threads); i++) {
		pthread_join(threads[i].id, NULL);
		assert_int_equal(threads[i].failed, 0);
		free(threads[i].want);
	}
	apirepo_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening),
		cmocka_unit_test(refreshing),
		cmocka_unit_test(wrong_index),
		cmocka_unit_test(threads_share_a_snapshot),
	};

	return cmocka_run_group_tests_name("libgitreach-repo", tests, NULL,
					   NULL);
}
