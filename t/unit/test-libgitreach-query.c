/* SPDX-License-Identifier: MIT */
/*
 * Tests of libgitreach/query.c, public functions for queries. The results are
 * compared with expected objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/apirepo.h"
#include "t/unit/filterset.h"

/* With each strategy, a query must find exactly the expected objects. */
static void random_requests(void **state)
{
	uint64_t seed = random_seed();
	struct apirepo a;

	for (int i = 0; i < 3; i++) {
		apirepo_make(&a, i == 1 ? HASH_SHA256 : HASH_SHA1, 90, &seed);
		for (int k = 0; k < 170; k++) {
			gitreach_query *q;
			gitreach_set *set;

			if (k % 50 == 0)
				apirepo_open(&a, 0);
			q = apirepo_query(&a, k % 4);
			apirepo_draw(&a, q);
			set = apirepo_run(&a, q);
			apirepo_check(&a, set);
			gitreach_set_free(set);
			gitreach_query_free(q);
		}
		apirepo_release(&a);
	}
}

static void random_filters(void **state)
{
	uint64_t seed = random_seed();
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 90, &seed);
	apirepo_open(&a, 0);
	for (int k = 0; k < 200; k++) {
		gitreach_query *q = apirepo_query(&a, GITREACH_CHECK);
		gitreach_set *set;
		char spec[64];

		apirepo_draw(&a, q);
		for (uint32_t n = 1 + randrepo_below(&a.r, 2); n > 0; n--) {
			filterset_random_spec(&a.r, spec, sizeof(spec), false);
			APIREPO_OK(&a, gitreach_query_filter(q, spec, a.err));
		}
		APIREPO_OK(&a,
			   gitreach_query_set(q, GITREACH_FILTER_WANTS,
					      randrepo_below(&a.r, 2), a.err));
		if (gitreach_query_run(&set, q, a.err) < 0)
			fail_msg("%s: %s", spec, gitreach_error_message(a.err));
		gitreach_set_free(set);
		gitreach_query_free(q);
	}
	apirepo_release(&a);
}

/*
 * A bitmap index cannot apply a filter that depends on the depth in a tree. So
 * the query walks. If the query may use only bitmaps, it is refused.
 */
static void filters_by_path(void **state)
{
	uint64_t seed = random_seed();
	struct gitreach_explanation how = {.size = sizeof(how)};
	gitreach_set *set;
	gitreach_query *q;
	struct apirepo a;
	uint32_t tip;

	apirepo_make(&a, HASH_SHA1, 40, &seed);
	apirepo_open(&a, 0);
	tip = a.r.commits[a.r.commit_nr - 1];
	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_want(q, apirepo_id(&a, tip), 20, a.err));
	APIREPO_OK(&a, gitreach_query_filter(q, "tree:1", a.err));
	set = apirepo_run(&a, q);
	APIREPO_OK(&a, gitreach_set_explain(&how, set, a.err));
	assert_int_equal(how.strategy, GITREACH_WALK);
	assert_string_equal(how.reason, "the filter needs a walk");
	assert_int_equal(gitreach_set_count(set, GITREACH_TYPE(GITREACH_BLOB)),
			 0);
	assert_true(gitreach_set_count(set, GITREACH_TYPE(GITREACH_TREE)) > 0);
	gitreach_set_free(set);
	APIREPO_OK(&a, gitreach_query_set(q, GITREACH_STRATEGY, GITREACH_BITMAP,
					  a.err));
	APIREPO_FAILS(&a, GITREACH_UNSUPPORTED,
		      gitreach_query_run(&set, q, a.err));
	assert_null(set);
	APIREPO_FAILS(&a, GITREACH_INVALID,
		      gitreach_query_filter(q, "blob:some", a.err));
	gitreach_query_free(q);
	apirepo_release(&a);
}

/*
 * The patterns of a sparse filter are in a blob. The filter may name the blob
 * in any form of gitrevisions(7).
 */
static void sparse_filter(void **state)
{
	uint64_t seed = random_seed();
	gitreach_set *some, *all;
	uint32_t tip, patterns;
	struct buf data = BUF_INIT;
	gitreach_query *q;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 40, &seed);
	assert_int_equal(buf_append_str(&data, "/nothing\n"), 0);
	patterns = randrepo_add(&a.r, OBJ_BLOB, &data, NULL, 0);
	randrepo_store(&a.r);
	randrepo_ref(&a.r, "refs/patterns", patterns);
	apirepo_open(&a, 0);
	tip = a.r.commits[a.r.commit_nr - 1];
	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_want(q, apirepo_id(&a, tip), 20, a.err));
	all = apirepo_run(&a, q);
	APIREPO_OK(&a,
		   gitreach_query_filter(q, "sparse:oid=refs/patterns", a.err));
	some = apirepo_run(&a, q);
	assert_int_equal(gitreach_set_count(some, GITREACH_TYPE(GITREACH_BLOB)),
			 0);
	assert_true(gitreach_set_count(all, GITREACH_TYPE(GITREACH_BLOB)) > 0);
	assert_int_equal(gitreach_set_count(some, GITREACH_TYPE(GITREACH_TREE)),
			 gitreach_set_count(all, GITREACH_TYPE(GITREACH_TREE)));
	gitreach_set_free(all);
	gitreach_set_free(some);
	APIREPO_OK(&a, gitreach_query_filter(q, "sparse:oid=gone", a.err));
	APIREPO_FAILS(&a, GITREACH_INVALID,
		      gitreach_query_run(&some, q, a.err));
	gitreach_query_free(q);
	buf_release(&data);
	apirepo_release(&a);
}

static void commits_only(void **state)
{
	uint64_t seed = random_seed();
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 60, &seed);
	apirepo_open(&a, 0);
	for (int k = 0; k < 60; k++) {
		gitreach_query *q = apirepo_query(&a, k % 4);
		gitreach_set *set;

		APIREPO_OK(&a,
			   gitreach_query_set(q, GITREACH_OBJECTS, 0, a.err));
		apirepo_draw(&a, q);
		for (uint32_t i = 0; i < a.r.nr; i++)
			a.want[i] &= a.r.objects[i].type == OBJ_COMMIT;
		set = apirepo_run(&a, q);
		apirepo_check(&a, set);
		gitreach_set_free(set);
		APIREPO_OK(&a, gitreach_query_filter(q, "blob:none", a.err));
		APIREPO_FAILS(&a, GITREACH_INVALID,
			      gitreach_query_run(&set, q, a.err));
		gitreach_query_free(q);
	}
	apirepo_release(&a);
}

/*
 * With GITREACH_INEXACT, the result has all expected objects, and only objects
 * that the wants reach.
 */
static void inexact(void **state)
{
	uint64_t seed = random_seed();
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 60, &seed);
	apirepo_open(&a, GITREACH_OPEN_NO_BITMAP);
	for (int k = 0; k < 100; k++) {
		gitreach_query *q = apirepo_query(&a, GITREACH_AUTO);
		gitreach_set *set;

		APIREPO_OK(&a,
			   gitreach_query_set(q, GITREACH_INEXACT, 1, a.err));
		apirepo_draw(&a, q);
		set = apirepo_run(&a, q);
		for (uint32_t i = 0; i < a.r.nr; i++) {
			int has = gitreach_set_contains(set, apirepo_id(&a, i),
							20);

			assert_true(has || !a.want[i] || a.have[i]);
			assert_true(a.want[i] || !has);
		}
		gitreach_set_free(set);
		gitreach_query_free(q);
	}
	apirepo_release(&a);
}

/* A commit that is marked as shallow reaches only its tree. */
static void shallow(void **state)
{
	uint64_t seed = random_seed();
	gitreach_query *q;
	gitreach_set *set;
	struct apirepo a;
	uint32_t tip;

	apirepo_make(&a, HASH_SHA1, 40, &seed);
	apirepo_open(&a, 0);
	tip = a.r.commits[a.r.commit_nr - 1];
	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_want(q, apirepo_id(&a, tip), 20, a.err));
	APIREPO_OK(&a,
		   gitreach_query_shallow(q, apirepo_id(&a, tip), 20, a.err));
	set = apirepo_run(&a, q);
	memset(a.want, 0, RANDREPO_MAX);
	a.want[tip] = true;
	randrepo_reach(&a.r, a.want, a.r.objects[tip].refs[0]);
	memset(a.have, 0, RANDREPO_MAX);
	apirepo_check(&a, set);
	gitreach_set_free(set);
	gitreach_query_free(q);
	apirepo_release(&a);
}

/*
 * Wants and haves can be names, or all refs whose names begin with a prefix. A
 * name that cannot be resolved is an error.
 */
static void names(void **state)
{
	uint64_t seed = random_seed();
	gitreach_query *q;
	gitreach_set *set;
	struct apirepo a;
	uint32_t tip;

	apirepo_make(&a, HASH_SHA1, 40, &seed);
	apirepo_open(&a, 0);
	tip = a.r.commits[a.r.commit_nr - 1];
	q = apirepo_query(&a, GITREACH_CHECK);
	APIREPO_OK(&a, gitreach_query_want_refs(q, "", a.err));
	APIREPO_OK(&a, gitreach_query_have_name(q, "main", a.err));
	set = apirepo_run(&a, q);
	memset(a.want, 1, RANDREPO_MAX);
	memset(a.have, 0, RANDREPO_MAX);
	randrepo_reach(&a.r, a.have, tip);
	apirepo_check(&a, set);
	gitreach_set_free(set);
	gitreach_query_free(q);
	q = apirepo_query(&a, GITREACH_CHECK);
	APIREPO_OK(&a, gitreach_query_want_refs(q, "refs/heads/main", a.err));
	APIREPO_OK(&a, gitreach_query_have_refs(q, "refs/none/", a.err));
	APIREPO_OK(&a, gitreach_query_want_name(q, "HEAD^{tree}", a.err));
	set = apirepo_run(&a, q);
	memcpy(a.want, a.have, RANDREPO_MAX);
	memset(a.have, 0, RANDREPO_MAX);
	apirepo_check(&a, set);
	gitreach_set_free(set);
	APIREPO_FAILS(&a, GITREACH_MISSING,
		      gitreach_query_want_name(q, "nobody", a.err));
	assert_string_equal(gitreach_error_message(a.err),
			    "no object has the name 'nobody'");
	gitreach_query_free(q);
	apirepo_release(&a);
}

/*
 * gitreach_query_exclude_refs() applies to refs that are added after its call.
 * Refs that were added before stay.
 */
static void excluded_refs(void **state)
{
	uint64_t seed = random_seed();
	uint32_t tip, root;
	struct apirepo a;
	gitreach_query *q;
	gitreach_set *set;

	apirepo_make(&a, HASH_SHA1, 30, &seed);
	tip = a.r.commits[a.r.commit_nr - 1];
	root = a.r.commits[0];
	randrepo_ref(&a.r, "refs/pull/1", root);
	apirepo_open(&a, 0);
	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_exclude_refs(q, "refs/", a.err));
	APIREPO_OK(&a, gitreach_query_want_refs(q, "", a.err));
	set = apirepo_run(&a, q);
	memset(a.want, 0, RANDREPO_MAX);
	memset(a.have, 0, RANDREPO_MAX);
	randrepo_reach(&a.r, a.want, tip);
	apirepo_check(&a, set);
	gitreach_set_free(set);
	gitreach_query_free(q);

	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_want_refs(q, "refs/pull/", a.err));
	APIREPO_OK(&a, gitreach_query_exclude_refs(q, "refs/", a.err));
	APIREPO_OK(&a, gitreach_query_exclude_refs(q, "HEAD", a.err));
	APIREPO_OK(&a, gitreach_query_want_refs(q, "", a.err));
	set = apirepo_run(&a, q);
	memset(a.want, 0, RANDREPO_MAX);
	randrepo_reach(&a.r, a.want, root);
	apirepo_check(&a, set);
	gitreach_set_free(set);
	gitreach_query_free(q);
	apirepo_release(&a);
}

#define GROUPS 4

/*
 * If one of the queries fails, gitreach_query_unique() fails, and sets all
 * results to NULL.
 */
static void unique_fails(struct apirepo *a, gitreach_query *const *q)
{
	const gitreach_query *some[3] = {q[0], q[1], NULL};
	uint8_t gone[20] = {1, 2, 3};
	gitreach_set *set[3];
	gitreach_query *wrong;

	APIREPO_FAILS(a, GITREACH_INVALID,
		      gitreach_query_unique(set, some, 3, a->err));
	wrong = apirepo_query(a, GITREACH_AUTO);
	APIREPO_OK(a, gitreach_query_want(wrong, gone, 20, a->err));
	some[2] = wrong;
	APIREPO_FAILS(a, GITREACH_MISSING,
		      gitreach_query_unique(set, some, 3, a->err));
	for (int i = 0; i < 3; i++)
		assert_null(set[i]);
	gitreach_query_free(wrong);
	APIREPO_OK(a, gitreach_query_unique(NULL, NULL, 0, a->err));
}

/*
 * For each of several queries, finds the objects that no other query reaches.
 */
static void unique(void **state)
{
	for (int flags = 0; flags <= GITREACH_OPEN_NO_BITMAP;
	     flags += GITREACH_OPEN_NO_BITMAP) {
		uint64_t seed = random_seed();
		bool *reached[GROUPS];
		gitreach_query *q[GROUPS];
		gitreach_set *set[GROUPS];
		struct apirepo a;

		apirepo_make(&a, HASH_SHA1, 50, &seed);
		apirepo_open(&a, (uint32_t)flags);
		for (int g = 0; g < GROUPS; g++) {
			uint32_t nr = apirepo_some(&a);

			reached[g] = calloc(RANDREPO_MAX, sizeof(bool));
			assert_non_null(reached[g]);
			randrepo_reach(&a.r, reached[g], nr);
			q[g] = apirepo_query(&a, GITREACH_AUTO);
			APIREPO_OK(&a,
				   gitreach_query_want(q[g], apirepo_id(&a, nr),
						       20, a.err));
		}
		APIREPO_OK(&a, gitreach_query_unique(
				       set, (const gitreach_query *const *)q,
				       GROUPS, a.err));
		for (int g = 0; g < GROUPS; g++) {
			memcpy(a.want, reached[g], RANDREPO_MAX);
			memset(a.have, 0, RANDREPO_MAX);
			for (uint32_t i = 0; i < a.r.nr; i++)
				for (int k = 0; k < GROUPS; k++)
					a.have[i] |= k != g && reached[k][i];
			apirepo_check(&a, set[g]);
			gitreach_set_free(set[g]);
		}
		unique_fails(&a, q);
		for (int g = 0; g < GROUPS; g++) {
			gitreach_query_free(q[g]);
			free(reached[g]);
		}
		apirepo_release(&a);
	}
}

/* A missing have is ignored; a missing want is an error. */
static void missing_objects(void **state)
{
	uint64_t seed = random_seed();
	uint8_t gone[20] = {1, 2, 3};
	gitreach_query *q;
	gitreach_set *set;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 20, &seed);
	apirepo_open(&a, 0);
	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_have(q, gone, 20, a.err));
	set = apirepo_run(&a, q);
	assert_int_equal(gitreach_set_count(set, GITREACH_ANY_TYPE), 0);
	gitreach_set_free(set);
	APIREPO_OK(&a, gitreach_query_want(q, gone, 20, a.err));
	APIREPO_FAILS(&a, GITREACH_MISSING, gitreach_query_run(&set, q, a.err));
	APIREPO_FAILS(&a, GITREACH_INVALID,
		      gitreach_query_want(q, gone, 32, a.err));
	APIREPO_FAILS(&a, GITREACH_UNSUPPORTED,
		      gitreach_query_set(q, 77, 1, a.err));
	APIREPO_FAILS(&a, GITREACH_UNSUPPORTED,
		      gitreach_query_set(q, GITREACH_STRATEGY, 9, a.err));
	/* The error may be NULL. */
	assert_int_equal(gitreach_query_set(q, 77, 1, NULL),
			 GITREACH_UNSUPPORTED);
	gitreach_query_free(q);
	apirepo_release(&a);
}

struct watched {
	unsigned calls, cancel_at;
	char phase[64];
};

static int watch(void *ctx, const struct gitreach_progress *progress)
{
	struct watched *w = ctx;

	assert_int_equal(progress->size, sizeof(*progress));
	snprintf(w->phase, sizeof(w->phase), "%s", progress->phase);
	return ++w->calls == w->cancel_at;
}

/*
 * A query that is cancelled returns an error and no set. This is tried for each
 * step of the query.
 */
static void cancelling(void **state)
{
	uint64_t seed = random_seed();
	struct watched w = {.cancel_at = 0};
	gitreach_query *q;
	gitreach_set *set;
	unsigned calls;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 60, &seed);
	apirepo_open(&a, GITREACH_OPEN_NO_BITMAP);
	q = apirepo_query(&a, GITREACH_AUTO);
	APIREPO_OK(&a, gitreach_query_want_refs(q, "", a.err));
	APIREPO_OK(&a, gitreach_query_have(q, apirepo_id(&a, a.r.commits[0]),
					   20, a.err));
	gitreach_query_progress(q, watch, &w);
	set = apirepo_run(&a, q);
	gitreach_set_free(set);
	calls = w.calls;
	assert_true(calls >= 3);
	assert_string_equal(w.phase, "Enumerating objects");
	for (unsigned i = 1; i <= 3; i++) {
		w = (struct watched){.cancel_at = i};
		APIREPO_FAILS(&a, GITREACH_CANCELLED,
			      gitreach_query_run(&set, q, a.err));
		assert_null(set);
		assert_int_equal(w.calls, i);
	}
	gitreach_query_free(q);
	apirepo_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_requests),
		cmocka_unit_test(random_filters),
		cmocka_unit_test(filters_by_path),
		cmocka_unit_test(sparse_filter),
		cmocka_unit_test(commits_only),
		cmocka_unit_test(inexact),
		cmocka_unit_test(shallow),
		cmocka_unit_test(names),
		cmocka_unit_test(excluded_refs),
		cmocka_unit_test(unique),
		cmocka_unit_test(missing_objects),
		cmocka_unit_test(cancelling),
	};

	return cmocka_run_group_tests_name("libgitreach-query", tests, NULL,
					   NULL);
}
