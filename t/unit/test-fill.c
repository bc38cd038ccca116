/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/fill.c, which adds the closure of tips to a set, partly by
 * bitmaps and partly by walking. They prove that the set is right after each of
 * several additions. A commit that is in a used bitmap must not be walked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "bitmap/fill.h"
#include "object/parse.h"
#include "t/unit/bitmaprepo.h"

/*
 * Makes a history. The indexed pack has four of five commits. Few of these
 * commits have bitmaps.
 */
static void make(struct randrepo *r, struct bitmaprepo *b, uint64_t *seed)
{
	randrepo_init(r, HASH_SHA1, seed);
	randrepo_history(r, 100);
	randrepo_store_pack(r);
	randrepo_all_refs(r);
	bitmaprepo_repack(r, true, true);
	randrepo_history(r, 12);
	randrepo_store(r);
	randrepo_history(r, 12);
	randrepo_store_pack(r);
	bitmaprepo_thin_out(r, 2, 2, true, true);
	bitmaprepo_open(b, r);
}

static void start(struct bitmap_fill *fill, struct bitmaprepo *b)
{
	assert_int_equal(bitmap_fill_init(fill, &b->pb->file, b->pb->space,
					  &b->walk, NULL),
			 0);
}

/* An object has a bit only if it is in the indexed pack. */
static void positions(void **state)
{
	uint64_t seed = random_seed();
	struct bitmap_space space;
	struct randrepo r;
	struct bitmaprepo b;
	uint32_t inside = 0;

	make(&r, &b, &seed);
	space = b.pb->space;
	for (uint32_t i = 0; i < r.nr; i++) {
		uint32_t obj_pos, idx_pos, bit_pos;
		bool has;

		assert_int_equal(objspace_add(&b.walk.space,
					      r.objects[i].oid.bytes, &obj_pos),
				 0);
		has = pack_idx_find(&b.pb->space.pack->pack->idx,
				    r.objects[i].oid.bytes, &idx_pos);
		inside += has;
		assert_int_equal(bitmap_space_idx(&space, &b.walk.space,
						  obj_pos, &idx_pos),
				 has);
		assert_int_equal(bitmap_space_bit(&space, &b.walk.space,
						  obj_pos, &bit_pos),
				 has);
		if (!has)
			continue;
		assert_int_equal(bitmaprepo_at(&b, bit_pos), i);
		assert_int_equal(pack_rev_idx_pos(b.pb->space.rev, bit_pos),
				 idx_pos);
	}
	assert_int_equal(inside, b.pb->file.object_nr);
	assert_true(inside < r.nr);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/* Checks that the set is the closure of all tips added so far. */
static void check_set(struct bitmaprepo *b, const struct bitmap_fill *fill)
{
	for (uint32_t i = 0; i < b->r->nr; i++) {
		uint32_t obj_pos, bit;
		bool has;

		assert_int_equal(objspace_add(&b->walk.space,
					      b->r->objects[i].oid.bytes,
					      &obj_pos),
				 0);
		has = pack_bitmap_bit(b->pb, &b->walk, obj_pos, &bit)
			      ? bitset_test(&fill->packed, bit)
			      : bitset_get(&fill->outside, obj_pos);
		assert_int_equal(has, b->want[i]);
	}
}

/*
 * Checks each object in `others`: the type is right, the tips reach the object,
 * and the object was not listed before.
 */
static void check_others(struct bitmaprepo *b, const struct walk_items *others)
{
	for (size_t i = 0; i < others->nr; i++) {
		struct oid oid;
		uint32_t nr;

		objspace_oid(&oid, &b->walk.space, others->items[i].obj_pos);
		nr = randrepo_find(b->r, &oid);
		assert_int_equal(others->items[i].type, b->r->objects[nr].type);
		assert_true(b->want[nr]);
		assert_false(b->found[nr]);
		b->found[nr] = true;
	}
}

/*
 * Adds tips to a set in several steps. After each step, compares the set with
 * the closure of the tips.
 */
static void steps(void **state)
{
	uint64_t seed = random_seed();
	uint32_t bitmaps = 0, walked = 0;
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &b, &seed);
	for (int i = 0; i < 150; i++) {
		struct bitmap_fill fill;

		start(&fill, &b);
		memset(b.want, 0, RANDREPO_MAX);
		memset(b.found, 0, RANDREPO_MAX);
		for (int k = 0; k < 4; k++) {
			struct walk_tips tips = WALK_TIPS_INIT;
			struct walk_items others = {0};
			bool unwanted = random_next(&seed) % 3 == 0;

			bitmaprepo_tips(&b, &seed, &tips, b.had, 2);
			for (uint32_t nr = 0; nr < r.nr; nr++)
				b.want[nr] |= b.had[nr];
			assert_int_equal(
				bitmap_fill_tips(&fill, &tips,
						 unwanted ? NULL : &others,
						 NULL),
				0);
			check_set(&b, &fill);
			check_others(&b, &others);
			free(others.items);
			walk_tips_release(&tips);
		}
		bitmaps += fill.bitmaps_used;
		walked += fill.commits_walked;
		bitmap_fill_release(&fill);
	}
	assert_true(bitmaps > 0 && walked > 50);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * Checks which bitmaps a query has used. If a used bitmap contains a commit,
 * the query must not use the bitmap of this commit afterwards.
 */
static void check_trace(struct bitmaprepo *b, const struct bitmap_trace *trace)
{
	memset(b->found, 0, RANDREPO_MAX);
	for (size_t i = 0; i < trace->row_nr; i++) {
		uint32_t nr = bitmaprepo_row(b, trace->rows[i]);

		assert_false(b->found[nr]);
		randrepo_reach(b->r, b->found, nr);
	}
}

/*
 * Adds tips whose commits are not parsed yet. Each tip is listed twice, and in
 * some rounds no tip has a bitmap. The resulting set must be the closure of the
 * tips.
 */
static void tips_that_were_not_read(void **state)
{
	uint64_t seed = random_seed();
	struct bitmap_fill fill;
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &b, &seed);
	for (int i = 0; i < 150; i++) {
		struct walk_tips tips = WALK_TIPS_INIT;
		struct bitmap_trace trace = {0};

		memset(b.want, 0, RANDREPO_MAX);
		for (uint64_t n = 1 + random_next(&seed) % 4; n > 0; n--) {
			uint32_t nr =
				r.commits[random_next(&seed) % r.commit_nr];

			for (int twice = 0; twice < 2; twice++)
				assert_int_equal(
					walk_add_tip_unread(&b.walk, &tips,
							    &r.objects[nr].oid,
							    NULL),
					0);
			randrepo_reach(&r, b.want, nr);
		}
		start(&fill, &b);
		fill.trace = &trace;
		assert_int_equal(bitmap_fill_tips(&fill, &tips, NULL, NULL), 0);
		check_set(&b, &fill);
		check_trace(&b, &trace);
		bitmap_trace_release(&trace);
		bitmap_fill_release(&fill);
		walk_tips_release(&tips);
		walk_close(&b.walk);
		assert_int_equal(walk_open(&b.walk, b.odb, NULL, 0, NULL), 0);
	}
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * Adds the tip `from`. This must find the blob `blob`, with the path hash of
 * the path a/z/f01.
 */
static void check_name_hash(struct bitmaprepo *b, uint32_t from, uint32_t blob)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	struct walk_items others = {0};
	struct bitmap_fill fill;
	bool met = false;

	assert_int_equal(walk_add_tip(&b->walk, &tips, &b->r->objects[from].oid,
				      false, NULL),
			 0);
	start(&fill, b);
	assert_int_equal(bitmap_fill_tips(&fill, &tips, &others, NULL), 0);
	for (size_t i = 0; i < others.nr; i++) {
		struct oid oid;

		objspace_oid(&oid, &b->walk.space, others.items[i].obj_pos);
		if (randrepo_find(b->r, &oid) != blob)
			continue;
		met = true;
		assert_int_equal(others.items[i].name_hash,
				 name_hash_add(0, "a/z/f01", 7));
	}
	assert_true(met);
	bitmap_fill_release(&fill);
	free(others.items);
	walk_tips_release(&tips);
}

/*
 * Objects found by walking from a commit without a bitmap, or from a tree, must
 * have the same path hashes as in a walk without bitmaps.
 */
static void name_hashes(void **state)
{
	uint64_t seed = random_seed();
	uint8_t files[RANDREPO_FILES] = {0};
	struct randrepo r;
	struct bitmaprepo b;
	uint32_t commit, blob;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 5);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	/* The new commit changes only the file a/z/f01. */
	files[1] = RANDREPO_CONTENTS + 1;
	commit = randrepo_commit(&r, files, NULL, 0, 1);
	blob = randrepo_blob(&r, files[1]);
	randrepo_store(&r);
	bitmaprepo_open(&b, &r);
	check_name_hash(&b, commit, blob);
	check_name_hash(&b, r.objects[commit].refs[0], blob);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * Counts commits of the pack in pack order, from bit `bit` to the first commit
 * with a bitmap. bitmap_side_distance() must give the same number.
 */
static size_t slow_distance(const struct bitmaprepo *b, uint32_t bit)
{
	size_t nr = 0;

	for (; bit < b->pb->file.object_nr; bit++) {
		uint32_t row;

		if (bitmap_file_find(&b->pb->file,
				     pack_bitmap_idx_pos(b->pb, bit), &row))
			break;
		nr += pack_bitmap_type(b->pb, bit) == OBJ_COMMIT;
	}
	return nr;
}

static bool has_bitmap(struct bitmaprepo *b, const struct oid *oid)
{
	uint32_t obj_pos, bit;

	return objspace_find(&b->walk.space, oid->bytes, &obj_pos) &&
	       pack_bitmap_bit(b->pb, &b->walk, obj_pos, &bit) &&
	       !slow_distance(b, bit);
}

/* A commit that is in a used bitmap is not walked. */
static void stops_at_bitmaps(void **state)
{
	uint64_t seed = random_seed();
	struct walk_tips tips = WALK_TIPS_INIT;
	struct bitmap_fill fill;
	struct randrepo r;
	struct bitmaprepo b;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 60);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	bitmaprepo_open(&b, &r);
	for (uint32_t i = 0; i < r.commit_nr; i++)
		if (has_bitmap(&b, &r.objects[r.commits[i]].oid))
			assert_int_equal(
				walk_add_tip(&b.walk, &tips,
					     &r.objects[r.commits[i]].oid,
					     false, NULL),
				0);
	start(&fill, &b);
	assert_int_equal(bitmap_fill_tips(&fill, &tips, NULL, NULL), 0);
	assert_int_equal(fill.commits_walked, 0);
	assert_true(fill.bitmaps_used > 0);
	assert_true(fill.bitmaps_used < r.commit_nr);
	bitmap_fill_release(&fill);
	walk_tips_release(&tips);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

static void distances(void **state)
{
	const struct walk_tips none = WALK_TIPS_INIT;
	uint64_t seed = random_seed();
	struct bitmap_side *side;
	struct bitmap_fill fill;
	struct randrepo r;
	struct bitmaprepo b;
	size_t far = 0;

	make(&r, &b, &seed);
	start(&fill, &b);
	assert_int_equal(bitmap_side_start(&side, &fill, &none, NULL, NULL), 0);
	for (uint32_t i = 0; i < r.commit_nr; i++) {
		struct walk_tips tip = WALK_TIPS_INIT;
		size_t expected, distance;
		uint32_t c, bit;

		assert_int_equal(walk_add_tip(&b.walk, &tip,
					      &r.objects[r.commits[i]].oid,
					      false, NULL),
				 0);
		c = tip.commits[0];
		walk_tips_release(&tip);
		distance = bitmap_side_distance(side, c, SIZE_MAX);
		if (!pack_bitmap_bit(b.pb, &b.walk,
				     b.walk.history.commits[c].obj_pos, &bit)) {
			assert_true(distance > 0);
			continue;
		}
		expected = slow_distance(&b, bit);
		assert_int_equal(distance, expected);
		assert_int_equal(bitmap_side_distance(side, c, 1),
				 expected ? 1 : 0);
		far = distance > far ? distance : far;
	}
	assert_true(far > 1);
	bitmap_side_free(side);
	bitmap_fill_release(&fill);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * If the index has no bitmaps, the estimated distance to the next bitmap is the
 * maximum.
 */
static void distance_to_nothing(void **state)
{
	const struct walk_tips none = WALK_TIPS_INIT;
	const struct bitmap_file empty = {.name = "empty"};
	struct walk_tips tip = WALK_TIPS_INIT;
	uint64_t seed = random_seed();
	struct bitmap_side *side;
	struct bitmap_fill fill;
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, &b, &seed);
	start(&fill, &b);
	fill.file = &empty;
	assert_int_equal(bitmap_side_start(&side, &fill, &none, NULL, NULL), 0);
	assert_int_equal(
		walk_add_tip(&b.walk, &tip,
			     &r.objects[r.commits[r.commit_nr - 1]].oid, false,
			     NULL),
		0);
	assert_int_equal(bitmap_side_distance(side, tip.commits[0], 100), 100);
	walk_tips_release(&tip);
	bitmap_side_free(side);
	bitmap_fill_release(&fill);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(positions),
		cmocka_unit_test(steps),
		cmocka_unit_test(tips_that_were_not_read),
		cmocka_unit_test(distances),
		cmocka_unit_test(distance_to_nothing),
		cmocka_unit_test(stops_at_bitmaps),
		cmocka_unit_test(name_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
