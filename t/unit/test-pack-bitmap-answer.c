/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack-bitmap-answer.c, which answers a request by a bitmap index or
 * by a walk. Both results are compared with the expected objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pack-bitmap-answer.h"
#include "t/unit/bitmaprepo.h"

static void make(struct randrepo *r, uint64_t *seed)
{
	randrepo_init(r, HASH_SHA1, seed);
	randrepo_history(r, 80);
	randrepo_store_pack(r);
	randrepo_all_refs(r);
	bitmaprepo_repack(r, true, true);
	randrepo_history(r, 20);
	randrepo_store(r);
	bitmaprepo_thin_out(r, 3, 3, true, true);
}

static void note_walked(struct bitmaprepo *b, const struct walk_items *walked)
{
	memset(b->found, 0, RANDREPO_MAX);
	for (size_t i = 0; i < walked->nr; i++)
		bitmaprepo_note(b, walked->items[i].obj_pos,
				walked->items[i].type);
}

/*
 * Checks that queries by a bitmap index and by a walk find exactly the expected
 * objects.
 */
static void both_ways(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &seed);
	bitmaprepo_open(&b, &r);
	for (int k = 0; k < 150; k++) {
		struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
		struct pack_bitmap_ask ask = {
			.pb = k % 2 ? b.pb : NULL,
			.no_bitmap = "so there",
			.wants = &wants,
			.haves = &haves,
			.must_use_bitmap = k % 2,
		};
		struct pack_bitmap_answer answer;
		struct error err = ERROR_INIT;

		bitmaprepo_tips(&b, &seed, &wants, b.want, 5);
		bitmaprepo_tips(&b, &seed, &haves, b.had, 4);
		if (pack_bitmap_answer(&answer, &b.walk, &ask, &err) < 0)
			fail_msg("%s", err.msg);
		assert_int_equal(answer.by_bitmap, k % 2);
		if (answer.by_bitmap)
			bitmaprepo_check(&b, &answer.result);
		else
			note_walked(&b, &answer.walked);
		for (uint32_t i = 0; i < r.nr; i++)
			assert_int_equal(b.found[i], b.want[i] && !b.had[i]);
		assert_string_equal(answer.reason.msg, k % 2 ? "" : "so there");
		pack_bitmap_answer_release(&answer);
		walk_tips_release(&wants);
		walk_tips_release(&haves);
	}
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/* With commits_only, a request finds exactly the expected commits. */
static void commits_only(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &seed);
	bitmaprepo_open(&b, &r);
	for (int k = 0; k < 50; k++) {
		struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
		struct pack_bitmap_ask ask = {
			.wants = &wants,
			.haves = &haves,
			.commits_only = true,
		};
		struct pack_bitmap_answer answer;

		bitmaprepo_tips(&b, &seed, &wants, b.want, 5);
		bitmaprepo_tips(&b, &seed, &haves, b.had, 4);
		assert_int_equal(
			pack_bitmap_answer(&answer, &b.walk, &ask, NULL), 0);
		note_walked(&b, &answer.walked);
		for (uint32_t i = 0; i < r.nr; i++)
			assert_int_equal(b.found[i],
					 b.want[i] && !b.had[i] &&
						 r.objects[i].type ==
							 OBJ_COMMIT);
		pack_bitmap_answer_release(&answer);
		walk_tips_release(&wants);
		walk_tips_release(&haves);
	}
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * If the request is answered by a walk, the caller gets the reason: bitmaps
 * cannot answer the request, or the index is missing or broken.
 */
static void reasons(void **state)
{
	uint64_t seed = random_seed();
	struct walk_tips tips = WALK_TIPS_INIT, none = WALK_TIPS_INIT;
	struct pack_bitmap_ask ask = {.wants = &tips, .haves = &none};
	struct pack_bitmap_answer answer;
	struct filter filter;
	struct randrepo r;
	struct bitmaprepo b;
	struct walk cut;
	struct pack_bitmap *pb;
	const char *reason;

	make(&r, &seed);
	bitmaprepo_open(&b, &r);
	filter_init(&filter);
	assert_null(pack_bitmap_answer_unfit(&b.walk, &filter));
	assert_int_equal(filter_add(&filter, "tree:3", NULL), 0);
	assert_non_null(pack_bitmap_answer_unfit(&b.walk, &filter));
	assert_int_equal(
		pack_bitmap_answer_open(&pb, &reason, &b.walk, &filter, NULL),
		0);
	assert_null(pb);
	assert_string_equal(reason, "the filter needs a walk");
	assert_int_equal(
		walk_open(&cut, b.odb, &r.objects[r.commits[0]].oid, 1, NULL),
		0);
	assert_non_null(pack_bitmap_answer_unfit(&cut, NULL));
	walk_close(&cut);
	assert_int_equal(pack_bitmap_answer(&answer, &b.walk, &ask, NULL), 0);
	assert_string_equal(answer.reason.msg, "there is no bitmap index");
	pack_bitmap_answer_release(&answer);
	ask.must_use_bitmap = true;
	assert_int_equal(pack_bitmap_answer(&answer, &b.walk, &ask, NULL),
			 ERR_UNSUPPORTED);
	pack_bitmap_answer_release(&answer);
	filter_release(&filter);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * With the filter tree:0, a wanted tree is found, unless the haves reach the
 * tree.
 */
static void wanted_and_had(void **state)
{
	uint64_t seed = random_seed();
	struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
	struct pack_bitmap_ask ask = {.wants = &wants, .haves = &haves};
	struct pack_bitmap_answer answer;
	struct filter filter;
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &seed);
	bitmaprepo_open(&b, &r);
	filter_init(&filter);
	assert_int_equal(filter_add(&filter, "tree:0", NULL), 0);
	ask.filter = &filter;
	ask.pb = b.pb;
	for (uint32_t i = 0; i < r.commit_nr; i++) {
		uint32_t tree = r.objects[r.commits[i]].refs[0];

		assert_int_equal(walk_add_tip(&b.walk, &wants,
					      &r.objects[tree].oid, false,
					      NULL),
				 0);
		assert_int_equal(walk_add_tip(&b.walk, &haves,
					      &r.objects[r.commits[i]].oid,
					      false, NULL),
				 0);
		assert_int_equal(
			pack_bitmap_answer(&answer, &b.walk, &ask, NULL), 0);
		assert_true(answer.by_bitmap);
		assert_true(bitset_is_empty(&answer.result.packed));
		assert_int_equal(answer.result.others.nr, 0);
		pack_bitmap_answer_release(&answer);
		walk_tips_release(&wants);
		walk_tips_release(&haves);
	}
	filter_release(&filter);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * Context of confirm(), the callback that may refuse the answer of the bitmap
 * index.
 */
struct judge {
	/*
	 * Fields that the test sets: the value to return, and the code for
	 * *why.
	 */
	int ret;
	enum error_code why_code; /* 0: *why stays unset */
	unsigned nr;              /* number of calls */
};

static int confirm(void *ctx, struct error *why, struct error *err)
{
	struct judge *judge = ctx;

	judge->nr++;
	if (judge->why_code)
		return error_set(why, judge->why_code, "the index is wrong");
	return judge->ret ? error_set(err, judge->ret, "stopped") : 0;
}

/*
 * The callback confirm() can accept the answer of the bitmap index. It can say
 * that the index is broken: then a walk must answer. Or it can stop the
 * request: then its error is returned.
 */
static void confirmed(void **state)
{
	static const struct {
		int ret;
		enum error_code why_code;
		int tried, answered;
		const char *message;
	} cases[] = {
		{0, 0, 1, 0, ""},
		{ERR_CORRUPT, ERR_CORRUPT, 0, 0, ""},
		{ERR_CORRUPT, 0, ERR_CORRUPT, ERR_CORRUPT, "stopped"},
		{ERR_IO, ERR_IO, 0, 0, ""},
		{ERR_CANCELLED, ERR_CANCELLED, ERR_CANCELLED, ERR_CANCELLED,
		 "the index is wrong"},
	};
	uint64_t seed = random_seed();
	struct walk_tips wants = WALK_TIPS_INIT, none = WALK_TIPS_INIT;
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &seed);
	bitmaprepo_open(&b, &r);
	bitmaprepo_tips(&b, &seed, &wants, b.want, 5);
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct judge judge = {cases[k].ret, cases[k].why_code, 0};
		struct pack_bitmap_ask ask = {
			.pb = b.pb,
			.wants = &wants,
			.haves = &none,
			.confirm = confirm,
			.ctx = &judge,
		};
		struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
		struct error why = ERROR_INIT, err = ERROR_INIT;
		struct pack_bitmap_answer answer;

		assert_int_equal(
			pack_bitmap_try(&result, &b.walk, &ask, &why, &err),
			cases[k].tried);
		assert_int_equal(why.code, cases[k].why_code);
		assert_string_equal(err.msg, cases[k].message);
		pack_bitmap_result_release(&result);
		assert_int_equal(
			pack_bitmap_answer(&answer, &b.walk, &ask, &err),
			cases[k].answered);
		assert_int_equal(answer.by_bitmap, cases[k].tried == 1);
		assert_int_equal(judge.nr, 2);
		pack_bitmap_answer_release(&answer);
	}
	walk_tips_release(&wants);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/* If a walk is cheaper than bitmaps, plan->reason says why. */
static void planned(void **state)
{
	uint64_t seed = random_seed();
	struct walk_tips wants = WALK_TIPS_INIT, none = WALK_TIPS_INIT;
	struct bitmap_plan plan = {.strategy = BITMAP_STRATEGY_WALK};
	struct pack_bitmap_ask ask = {
		.wants = &wants,
		.haves = &none,
		.inexact = true,
		.plan = &plan,
	};
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct error why = ERROR_INIT;
	struct pack_bitmap *pb;
	const char *reason;
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &seed);
	bitmaprepo_open(&b, &r);
	assert_int_equal(
		pack_bitmap_answer_open(&pb, &reason, &b.walk, NULL, NULL), 1);
	ask.pb = pb;
	bitmaprepo_tips(&b, &seed, &wants, b.want, 5);
	assert_int_equal(pack_bitmap_try(&result, &b.walk, &ask, &why, NULL),
			 0);
	assert_int_equal(why.code, ERR_UNSUPPORTED);
	assert_string_equal(why.msg, plan.reason);
	pack_bitmap_result_release(&result);
	plan.strategy = BITMAP_STRATEGY_INDEX;
	assert_int_equal(pack_bitmap_try(&result, &b.walk, &ask, &why, NULL),
			 1);
	pack_bitmap_result_release(&result);
	walk_tips_release(&wants);
	pack_bitmap_close(pb);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways), cmocka_unit_test(commits_only),
		cmocka_unit_test(reasons),   cmocka_unit_test(wanted_and_had),
		cmocka_unit_test(confirmed), cmocka_unit_test(planned),
	};

	return cmocka_run_group_tests_name("pack-bitmap-answer", tests, NULL,
					   NULL);
}
