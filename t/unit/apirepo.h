/* SPDX-License-Identifier: MIT */
/*
 * Random repositories with bitmap indexes, for tests of the public interface.
 * The tests call the functions gitreach_*() of the shared library. Include this
 * header after cmocka.h.
 */
#ifndef T_UNIT_APIREPO_H
#define T_UNIT_APIREPO_H

#include "base/mem.h"
#include "include/gitreach.h"
#include "t/unit/bitmaprepo.h"

struct apirepo {
	struct randrepo r;
	gitreach_repo *repo;
	gitreach_error *err;
	/*
	 * Indexed like r.objects[]. want[i]: the wants reach object i. have[i]:
	 * the haves reach object i.
	 */
	bool *want, *have;
};

/*
 * Make a call of the public interface. If it fails, fail the test with the
 * error message.
 */
#define APIREPO_OK(a, call)                                                    \
	do {                                                                   \
		if ((call) != 0)                                               \
			fail_msg("%s: %s", #call,                              \
				 gitreach_error_message((a)->err));            \
		assert_int_equal(gitreach_error_code((a)->err), 0);            \
	} while (0)

/*
 * Assert that `call` returns the error code `code` and sets an error message.
 */
#define APIREPO_FAILS(a, code, call)                                           \
	do {                                                                   \
		assert_int_equal((call), (code));                              \
		assert_int_equal(gitreach_error_code((a)->err), (code));       \
		assert_true(*gitreach_error_message((a)->err));                \
	} while (0)

/*
 * Make a random repository without opening it. The bitmap index covers most of
 * the history. Newer objects are in a second pack or loose.
 */
static inline void apirepo_make(struct apirepo *a, enum hash_algo algo,
				uint32_t commits, uint64_t *seed)
{
	memset(a, 0, sizeof(*a));
	a->err = gitreach_error_new();
	a->want = calloc(RANDREPO_MAX, sizeof(bool));
	a->have = calloc(RANDREPO_MAX, sizeof(bool));
	assert_true(a->err && a->want && a->have);
	randrepo_init(&a->r, algo, seed);
	if (algo == HASH_SHA256)
		tmprepo_write(&a->r.t, "config",
			      "[core]\n\trepositoryformatversion = 1\n"
			      "[extensions]\n\tobjectformat = sha256\n");
	randrepo_history(&a->r, commits);
	randrepo_store_pack(&a->r);
	randrepo_all_refs(&a->r);
	bitmaprepo_repack(&a->r, true, true);
	randrepo_history(&a->r, 20);
	randrepo_store_pack(&a->r);
	randrepo_history(&a->r, 8);
	randrepo_store(&a->r);
	randrepo_all_refs(&a->r);
}

static inline void apirepo_open(struct apirepo *a, uint32_t flags)
{
	gitreach_repo_close(a->repo);
	APIREPO_OK(a, gitreach_repo_open(&a->repo, a->r.t.dir, flags, a->err));
}

static inline void apirepo_release(struct apirepo *a)
{
	gitreach_repo_close(a->repo);
	gitreach_error_free(a->err);
	free(a->want);
	free(a->have);
	randrepo_release(&a->r);
}

static inline const uint8_t *apirepo_id(const struct apirepo *a, uint32_t nr)
{
	return a->r.objects[nr].oid.bytes;
}

static inline size_t apirepo_id_len(const struct apirepo *a)
{
	return hash_len(a->r.t.repo.algo);
}

static inline gitreach_query *apirepo_query(struct apirepo *a, int strategy)
{
	gitreach_query *q;

	APIREPO_OK(a, gitreach_query_new(&q, a->repo, a->err));
	APIREPO_OK(a, gitreach_query_set(q, GITREACH_STRATEGY,
					 (uint64_t)strategy, a->err));
	return q;
}

static inline gitreach_set *apirepo_run(struct apirepo *a, gitreach_query *q)
{
	gitreach_set *set;

	APIREPO_OK(a, gitreach_query_run(&set, q, a->err));
	return set;
}

/*
 * Returns the index in r.objects[] of a random object. The object is usually a
 * recent commit.
 */
static inline uint32_t apirepo_some(struct apirepo *a)
{
	struct randrepo *r = &a->r;

	switch (randrepo_below(r, 4)) {
	case 0:
		return randrepo_below(r, r->nr);
	case 1:
		return r->commits[randrepo_below(r, r->commit_nr)];
	}
	return r->commits[r->commit_nr - 1 - randrepo_below(r, 20)];
}

/*
 * Add random wants and haves to the query. Set a->want[i] for each object that
 * the wants reach, and a->have[i] for each object that the haves reach.
 */
static inline void apirepo_draw(struct apirepo *a, gitreach_query *q)
{
	size_t len = apirepo_id_len(a);

	memset(a->want, 0, RANDREPO_MAX);
	memset(a->have, 0, RANDREPO_MAX);
	for (uint32_t n = randrepo_below(&a->r, 5); n > 0; n--) {
		uint32_t nr = apirepo_some(a);

		randrepo_reach(&a->r, a->want, nr);
		APIREPO_OK(a, gitreach_query_want(q, apirepo_id(a, nr), len,
						  a->err));
	}
	for (uint32_t n = randrepo_below(&a->r, 4); n > 0; n--) {
		uint32_t nr = apirepo_some(a);

		randrepo_reach(&a->r, a->have, nr);
		APIREPO_OK(a, gitreach_query_have(q, apirepo_id(a, nr), len,
						  a->err));
	}
}

/*
 * Check that `set` has exactly the objects that are in a->want and not in
 * a->have.
 */
static inline void apirepo_check(struct apirepo *a, const gitreach_set *set)
{
	uint64_t counts[5] = {0}, all = 0;

	for (uint32_t i = 0; i < a->r.nr; i++) {
		bool expect = a->want[i] && !a->have[i];

		assert_int_equal(gitreach_set_contains(set, apirepo_id(a, i),
						       apirepo_id_len(a)),
				 expect);
		counts[a->r.objects[i].type] += expect;
		all += expect;
	}
	for (int type = GITREACH_COMMIT; type <= GITREACH_TAG; type++)
		assert_int_equal(gitreach_set_count(set, GITREACH_TYPE(type)),
				 counts[type]);
	assert_int_equal(gitreach_set_count(set, GITREACH_ANY_TYPE), all);
}

#endif
