/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/disjoint.c, which looks for commits that have a bitmap and
 * reach no object of a given set. The tests prove that no found commit reaches
 * an object of the set. They also prove that each suitable commit is found, or
 * is an ancestor of a found commit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bitmap/fill.h"
#include "t/unit/bitmaprepo.h"

/* Returns whether the object `from` reaches an object whose bit is in `set`. */
static bool touches(struct bitmaprepo *b, const struct bitset *set,
		    uint32_t from)
{
	bool touched = false;

	memset(b->want, 0, RANDREPO_MAX);
	randrepo_reach(b->r, b->want, from);
	for (uint32_t bit = 0; bit < b->pb->file.object_nr; bit++)
		touched |= bitset_get(set, bit) &&
			   b->want[bitmaprepo_at(b, bit)];
	return touched;
}

static uint32_t bound_at(struct bitmaprepo *b, const struct walk_tips *bounds,
			 size_t i)
{
	uint32_t c = bounds->commits[i];
	struct oid oid;

	assert_true(b->walk.history.commits[c].parsed);
	objspace_oid(&oid, &b->walk.space, b->walk.history.commits[c].obj_pos);
	return randrepo_find(b->r, &oid);
}

/* Sets b->had[i] for each object that a commit of *bounds reaches. */
static void mark_behind(struct bitmaprepo *b, const struct walk_tips *bounds)
{
	memset(b->had, 0, RANDREPO_MAX);
	for (size_t i = 0; i < bounds->commit_nr; i++)
		randrepo_reach(b->r, b->had, bound_at(b, bounds, i));
}

static void find(struct bitmaprepo *b, struct walk_tips *bounds,
		 const struct walk_tips *wants, const struct bitset *set)
{
	assert_int_equal(bitmap_disjoint_commits(bounds, &b->pb->file,
						 &b->pb->space, &b->walk, wants,
						 set, NULL),
			 0);
	for (size_t i = 0; i < bounds->commit_nr; i++)
		assert_false(touches(b, set, bound_at(b, bounds, i)));
}

/*
 * Checks the result *bounds of bitmap_disjoint_commits(), for each commit that
 * has a bitmap. If the commit reaches no object of `set`, a commit of *bounds
 * must reach it. If the commit reaches an object of `set`, no commit of *bounds
 * may reach it. Adds the number of commits of the first kind to *clear_nr.
 */
static void check_rows(struct bitmaprepo *b, const struct walk_tips *bounds,
		       const struct bitset *set, uint32_t *clear_nr)
{
	mark_behind(b, bounds);
	for (uint32_t row = 0; row < b->pb->file.row_nr; row++) {
		uint32_t nr = bitmaprepo_row(b, row);
		bool is_clear = !touches(b, set, nr);

		assert_int_equal(b->had[nr], is_clear);
		*clear_nr += is_clear;
	}
}

static void random_sets(void **state)
{
	uint64_t seed = random_seed();
	uint32_t clear_nr = 0;
	struct bitmaprepo b;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 80);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	bitmaprepo_open(&b, &r);
	for (uint32_t i = 1; i < 20; i++) {
		struct walk_tips bounds = WALK_TIPS_INIT;
		const struct walk_tips none = WALK_TIPS_INIT;
		struct bitset set;

		assert_int_equal(bitset_init(&set, b.pb->file.object_nr), 0);
		for (uint32_t k = 0; k < i; k++)
			bitset_set(&set,
				   randrepo_below(&r, b.pb->file.object_nr));
		find(&b, &bounds, &none, &set);
		check_rows(&b, &bounds, &set, &clear_nr);
		walk_tips_release(&bounds);
		bitset_release(&set);
	}
	assert_true(clear_nr);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * bitmap_disjoint_commits() finds commits that reach no object of a set. If the
 * set is empty, no commit reaches an object of it. The function must then find,
 * on each path from the wants, the first commit that the index has.
 */
static void empty_set(void **state)
{
	uint64_t seed = random_seed();
	struct walk_tips bounds = WALK_TIPS_INIT, wants = WALK_TIPS_INIT;
	struct bitset none = BITSET_INIT;
	struct bitmaprepo b;
	struct randrepo r;
	uint32_t old_nr;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 40);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	old_nr = r.commit_nr;
	randrepo_history(&r, 20);
	randrepo_store(&r);
	bitmaprepo_open(&b, &r);
	for (uint32_t i = 1; i <= 5; i++)
		assert_int_equal(
			walk_add_tip(&b.walk, &wants,
				     &r.objects[r.commits[r.commit_nr - i]].oid,
				     false, NULL),
			0);
	find(&b, &bounds, &wants, &none);
	mark_behind(&b, &bounds);
	memset(b.want, 0, RANDREPO_MAX);
	for (uint32_t i = 1; i <= 5; i++)
		randrepo_reach(&r, b.want, r.commits[r.commit_nr - i]);
	for (uint32_t i = 0; i < r.commit_nr; i++)
		assert_int_equal(b.had[r.commits[i]],
				 i < old_nr && b.want[r.commits[i]]);
	walk_tips_release(&bounds);
	walk_tips_release(&wants);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/* If an ancestor of a want cannot be read, the error is returned. */
static void missing_parent(void **state)
{
	uint64_t seed = random_seed();
	struct walk_tips bounds = WALK_TIPS_INIT, wants = WALK_TIPS_INIT;
	struct bitset none = BITSET_INIT;
	struct error err = ERROR_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t parent, child;
	struct bitmaprepo b;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 10);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	bitmaprepo_repack(&r, true, true);
	parent = randrepo_commit(&r, r.objects[r.commits[0]].files, NULL, 0, 1);
	child = randrepo_commit(&r, r.objects[r.commits[0]].files, &parent, 1,
				2);
	randrepo_store_one(&r, "objects", child);
	bitmaprepo_open(&b, &r);
	assert_int_equal(walk_add_tip(&b.walk, &wants, &r.objects[child].oid,
				      false, NULL),
			 0);
	assert_int_equal(bitmap_disjoint_commits(&bounds, &b.pb->file,
						 &b.pb->space, &b.walk, &wants,
						 &none, &err),
			 ERR_MISSING);
	oid_to_hex(hex, &r.objects[parent].oid, HASH_SHA1);
	assert_non_null(strstr(err.msg, hex));
	walk_tips_release(&bounds);
	walk_tips_release(&wants);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sets),
		cmocka_unit_test(empty_set),
		cmocka_unit_test(missing_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
