/* SPDX-License-Identifier: MIT */
/* walk/walk.c and enumerate.c: requests against known closures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"

struct request {
	struct walk_tips wants, haves;
	bool *wanted, *had; /* closures, by number in the repository */
};

static void add_tips(struct walkrepo *w, struct walk_tips *tips, bool *set,
		     uint32_t max)
{
	for (uint32_t i = randrepo_below(&w->r, max + 1); i-- > 0;) {
		uint32_t nr = randrepo_below(&w->r, w->r.nr);

		assert_int_equal(walk_add_tip(&w->walk, tips,
					      &w->r.objects[nr].oid, false,
					      NULL),
				 0);
		randrepo_reach(&w->r, set, nr);
	}
}

static void request_init(struct request *q, struct walkrepo *w,
			 uint32_t max_haves)
{
	memset(q, 0, sizeof(*q));
	q->wanted = calloc(RANDREPO_MAX, sizeof(*q->wanted));
	q->had = calloc(RANDREPO_MAX, sizeof(*q->had));
	assert_true(q->wanted && q->had);
	add_tips(w, &q->wants, q->wanted, 4);
	add_tips(w, &q->haves, q->had, max_haves);
}

static void request_release(struct request *q)
{
	walk_tips_release(&q->wants);
	walk_tips_release(&q->haves);
	free(q->wanted);
	free(q->had);
}

/* What the walk found, each object once. */
static bool *found_set(struct walkrepo *w, const struct walk_result *result)
{
	bool *set = calloc(RANDREPO_MAX, sizeof(*set));

	assert_non_null(set);
	for (size_t i = 0; i < result->revs.nr; i++) {
		uint32_t c = result->revs.commits[i];

		set[walkrepo_nr(w, w->walk.history.commits[c].obj_pos)] = true;
	}
	for (size_t i = 0; i < result->objects.nr; i++) {
		const struct walk_item *item = &result->objects.items[i];
		uint32_t nr = walkrepo_nr(w, item->obj_pos);

		assert_false(set[nr]);
		assert_int_equal(w->r.objects[nr].type, item->type);
		set[nr] = true;
	}
	return set;
}

static void check(struct walkrepo *w, uint32_t max_haves,
		  struct walk_options *options)
{
	struct walk_result result = WALK_RESULT_INIT;
	struct request q;
	bool *found;

	options->objects = options->exact_commits = true;
	request_init(&q, w, max_haves);
	assert_int_equal(walk_enumerate(&result, &w->walk, &q.wants, &q.haves,
					options, NULL),
			 0);
	found = found_set(w, &result);
	for (uint32_t i = 0; i < w->r.nr; i++) {
		bool is_commit = w->r.objects[i].type == OBJ_COMMIT;

		/* All of the difference; more only of what is not a commit */
		if (q.wanted[i] && !q.had[i])
			assert_true(found[i]);
		if (!q.wanted[i] || (is_commit && q.had[i]))
			assert_false(found[i]);
	}
	if (!max_haves)
		for (uint32_t i = 0; i < w->r.nr; i++)
			assert_int_equal(found[i], q.wanted[i]);
	free(found);
	walk_result_release(&result);
	request_release(&q);
}

static void random_requests(void **state)
{
	uint64_t seed = random_seed();
	const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};

	for (int a = 0; a < 2; a++) {
		struct walkrepo w;

		walkrepo_init(&w, algos[a], 70, &seed);
		for (unsigned i = 0; i < 240; i++) {
			struct walk_options options = {
				.threads = i % 3,
				.keep_lists = i % 5 == 0,
				.exclude_boundary = i % 2,
			};

			check(&w, i % 4, &options);
		}
		walkrepo_release(&w);
	}
}

static void tips_that_are_not_there(void **state)
{
	uint64_t seed = random_seed();
	struct walk_tips tips = WALK_TIPS_INIT;
	struct oid absent = {{3}};
	struct error err = ERROR_INIT;
	struct walkrepo w;

	walkrepo_init(&w, HASH_SHA1, 4, &seed);
	assert_int_equal(walk_add_tip(&w.walk, &tips, &absent, false, &err),
			 ERR_MISSING);
	assert_int_equal(walk_add_tip(&w.walk, &tips, &absent, true, &err), 0);
	assert_int_equal(tips.commit_nr + tips.others.nr, 0);
	walk_tips_release(&tips);
	walkrepo_release(&w);
}

/* A blob that a tree names has to be somewhere. */
static void missing_blobs_are_noticed(void **state)
{
	uint64_t seed = random_seed();
	struct walk_result result = WALK_RESULT_INIT;
	struct walk_options options = {.objects = true};
	struct walk_tips tips = WALK_TIPS_INIT, none = WALK_TIPS_INIT;
	struct error err = ERROR_INIT;
	struct buf data = BUF_INIT;
	struct walkrepo w;
	struct oid tree;

	walkrepo_init(&w, HASH_SHA1, 4, &seed);
	buf_printf(&data, "100644 f");
	buf_append(&data, "\0ABCDEFGHIJKLMNOPQRST", 21);
	tmppack_loose(&w.r.t, "objects", &tree, OBJ_TREE, data.data, data.len);
	buf_release(&data);
	assert_int_equal(walk_add_tip(&w.walk, &tips, &tree, false, NULL), 0);
	assert_int_equal(
		walk_enumerate(&result, &w.walk, &tips, &none, &options, &err),
		ERR_MISSING);
	assert_non_null(strstr(err.msg, "missing blob object"));
	walk_result_release(&result);
	walk_tips_release(&tips);
	walkrepo_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_requests),
		cmocka_unit_test(tips_that_are_not_there),
		cmocka_unit_test(missing_blobs_are_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
