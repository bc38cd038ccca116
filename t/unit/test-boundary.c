/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/boundary.c, which answers queries inexactly. They prove that
 * the result has all objects that the wants reach and the haves do not reach.
 * The result may also have a few objects that the haves reach.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bitmap/fill.h"
#include "t/unit/bitmaprepo.h"

/*
 * Sums over all random queries. `found`: number of objects that the queries
 * found. `extra`: number of found objects that the haves reach, and that need
 * not be sent.
 */
struct sums {
	uint64_t found, extra; /* numbers of objects */
	uint32_t walked, planned;
};

/*
 * Checks a query's result. The result must have all objects that the wants
 * reach and the haves do not reach. All objects of the result must be reachable
 * from the wants. The commits and tags of the result must be exact.
 */
static void check(struct bitmaprepo *b, const struct pack_bitmap_result *result,
		  struct sums *sums)
{
	memset(b->found, 0, RANDREPO_MAX);
	assert_int_equal(
		pack_bitmap_each(b->pb, result, bitmaprepo_note, b, NULL), 0);
	for (uint32_t i = 0; i < b->r->nr; i++) {
		enum object_type type = b->r->objects[i].type;

		sums->found += b->found[i];
		if (b->want[i] && !b->had[i])
			assert_true(b->found[i]);
		else if (b->found[i])
			assert_true(b->want[i] && type != OBJ_COMMIT &&
				    type != OBJ_TAG);
		sums->extra += b->found[i] && b->had[i];
	}
	for (uint32_t bit = 0; bit < result->uninteresting.bits; bit++)
		if (bitset_test(&result->uninteresting, bit))
			assert_true(b->had[bitmaprepo_at(b, bit)]);
}

static void one_query(struct bitmaprepo *b, uint64_t *seed, struct sums *sums)
{
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
	struct bitmap_plan plan = {.strategy = BITMAP_STRATEGY_AUTO};
	const struct pack_bitmap_query query = {
		.inexact = true,
		.plan = random_next(seed) % 2 ? &plan : NULL,
	};
	struct error err = ERROR_INIT;
	int ret;

	bitmaprepo_tips(b, seed, &wants, b->want, 5);
	bitmaprepo_tips(b, seed, &haves, b->had, 4);
	ret = pack_bitmap_query(&result, b->pb, &b->walk, &wants, &haves,
				&query, &err);
	if (ret < 0)
		fail_msg("%s", err.msg);
	/*
	 * If `ret` is 1, there is no result, because a walk is expected to be
	 * faster.
	 */
	if (!ret)
		check(b, &result, sums);
	sums->walked += result.commits_walked;
	sums->planned += query.plan && plan.reason;
	pack_bitmap_result_release(&result);
	walk_tips_release(&wants);
	walk_tips_release(&haves);
}

static void random_requests(void **state)
{
	uint64_t seed = random_seed();
	struct sums sums = {0};

	for (int i = 0; i < 10; i++) {
		struct bitmaprepo b;
		struct randrepo r;

		randrepo_init(&r, i & 1 ? HASH_SHA256 : HASH_SHA1, &seed);
		randrepo_history(&r, 80);
		randrepo_store_pack(&r);
		randrepo_all_refs(&r);
		bitmaprepo_repack(&r, true, true);
		bitmaprepo_thin_out(&r, 2, 2, i & 2, true);
		randrepo_history(&r, 15);
		randrepo_store(&r);
		bitmaprepo_open(&b, &r);
		for (int k = 0; k < 60; k++)
			one_query(&b, &seed, &sums);
		bitmaprepo_close(&b);
		randrepo_release(&r);
	}
	assert_true(sums.walked > 100 && sums.planned > 100);
	assert_true(sums.extra * 10 < sums.found);
}

/*
 * With commits_only, the commits must be exact. Objects of other types are not
 * checked.
 */
static void commits_only(void **state)
{
	const struct pack_bitmap_query query = {.commits_only = true};
	uint64_t seed = random_seed();
	struct bitmaprepo b;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 80);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	bitmaprepo_thin_out(&r, 2, 0, true, true);
	randrepo_history(&r, 15);
	randrepo_store(&r);
	bitmaprepo_open(&b, &r);
	for (int k = 0; k < 200; k++) {
		struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
		struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
		uint64_t counts[BITMAP_TYPE_NR], due = 0;

		bitmaprepo_tips(&b, &seed, &wants, b.want, 5);
		bitmaprepo_tips(&b, &seed, &haves, b.had, 4);
		assert_int_equal(pack_bitmap_query(&result, b.pb, &b.walk,
						   &wants, &haves, &query,
						   NULL),
				 0);
		pack_bitmap_count(counts, b.pb, &result);
		for (uint32_t i = 0; i < r.nr; i++)
			due += r.objects[i].type == OBJ_COMMIT && b.want[i] &&
			       !b.had[i];
		assert_int_equal(counts[BITMAP_COMMITS], due);
		pack_bitmap_result_release(&result);
		walk_tips_release(&wants);
		walk_tips_release(&haves);
	}
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/* Asks for the objects that the want reaches and the have does not reach. */
static void ask_for(struct bitmaprepo *b, struct pack_bitmap_result *result,
		    uint32_t want, uint32_t have)
{
	const struct pack_bitmap_query inexact = {.inexact = true};
	struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;

	assert_int_equal(walk_add_tip(&b->walk, &wants,
				      &b->r->objects[want].oid, false, NULL),
			 0);
	assert_int_equal(walk_add_tip(&b->walk, &haves,
				      &b->r->objects[have].oid, false, NULL),
			 0);
	assert_int_equal(pack_bitmap_query(result, b->pb, &b->walk, &wants,
					   &haves, &inexact, NULL),
			 0);
	walk_tips_release(&wants);
	walk_tips_release(&haves);
}

/*
 * The client has a commit with the same tree as the wanted commit, but the
 * bitmap index lacks the client's commit. So bitmaps alone do not tell whether
 * the client has these three objects: the wanted commit, its tree and a blob.
 * To decide this, the objects of the client's commit are looked up among the
 * three objects. For so few objects, a hash table is made before the first
 * lookup. The tree and the blob must be found in this table, so that only the
 * wanted commit is sent.
 */
static void few_undecided(void **state)
{
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	uint8_t files[RANDREPO_FILES] = {[9] = 1, [10] = 2};
	uint64_t seed = random_seed(), counts[BITMAP_TYPE_NR];
	uint32_t first, want, have;
	struct bitmaprepo b;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	first = randrepo_commit(&r, files, NULL, 0, 1700000000);
	files[10] = 3;
	want = randrepo_commit(&r, files, &first, 1, 1700000060);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	have = randrepo_commit(&r, files, &first, 1, 1700000120);
	randrepo_store(&r);
	bitmaprepo_open(&b, &r);
	ask_for(&b, &result, want, have);
	pack_bitmap_count(counts, b.pb, &result);
	assert_int_equal(counts[BITMAP_COMMITS], 1);
	assert_int_equal(counts[BITMAP_TREES], 0);
	assert_int_equal(counts[BITMAP_BLOBS], 0);
	pack_bitmap_result_release(&result);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_requests),
		cmocka_unit_test(commits_only),
		cmocka_unit_test(few_undecided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
