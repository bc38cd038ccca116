/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/treediff.c, which finds the new objects of a tree in
 * comparison to other trees. The results are compared with lists of all paths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "t/unit/randtree.h"
#include "trees/treediff.h"
#include "trees/treewalk.h"

#define CACHE_LIMIT ((size_t)1 << 20)

struct fixture {
	struct randhist h;
	struct odb *odb;
	struct objspace space;
};

/*
 * Makes a history. Most of its trees are stored as deltas in packs; some are
 * loose.
 */
static void setup(struct fixture *f, enum hash_algo algo, uint64_t *seed)
{
	randhist_init(&f->h, algo, seed);
	randhist_grow_by(&f->h, 120, true);
	randtree_store_packs(&f->h.r);
	randhist_grow_by(&f->h, 20, true);
	randrepo_store(&f->h.r);
	assert_int_equal(odb_open(&f->odb, &f->h.r.t.repo, NULL, NULL), 0);
	objspace_init(&f->space, f->odb);
}

static void teardown(struct fixture *f)
{
	objspace_release(&f->space);
	odb_close(f->odb);
	randhist_release(&f->h);
}

static uint32_t pos_of(struct fixture *f, uint32_t nr)
{
	uint32_t obj_pos;

	assert_int_equal(
		objspace_add(&f->space, f->h.r.objects[nr].oid.bytes, &obj_pos),
		0);
	return obj_pos;
}

/* Checks the list of new trees or of new blobs against the expected paths. */
static void check_list(struct fixture *f, const struct treediff_object *items,
		       size_t nr, const struct pathlist *expect, bool trees)
{
	size_t at = 0;

	for (size_t i = 0; i < expect->nr; i++) {
		const struct pathlist_item *p = &expect->items[i];

		if ((f->h.r.objects[p->nr].type == OBJ_TREE) != trees)
			continue;
		assert_true(at < nr);
		assert_int_equal(items[at].obj_pos, pos_of(f, p->nr));
		assert_int_equal(items[at].name_hash,
				 name_hash_add(0, p->path, strlen(p->path)));
		at++;
	}
	assert_int_equal(at, nr);
}

static void check_result(struct fixture *f,
			 const struct treediff_result *result,
			 const struct pathlist *expect)
{
	check_list(f, result->trees, result->tree_nr, expect, true);
	check_list(f, result->blobs, result->blob_nr, expect, false);
}

/*
 * Compares the tree of a random commit with other trees, usually those of its
 * parents.
 */
static void compare_one(struct fixture *f, struct treediff *d)
{
	struct randrepo *r = &f->h.r;
	uint32_t at = randrepo_below(r, r->commit_nr), nr;
	uint32_t others[TREEDIFF_MAX_PARENTS], parents[TREEDIFF_MAX_PARENTS];
	uint32_t tree = randhist_tree(&f->h, r->commits[at]);
	struct treediff_result result;
	struct error err = ERROR_INIT;
	struct pathlist expect;

	nr = randrepo_below(r, 4) ? randrepo_below(r, 3)
				  : randrepo_below(r, TREEDIFF_MAX_PARENTS + 1);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t back = randrepo_below(r,
					       randrepo_below(r, 4) ? 4 : 99);
		uint32_t from = at > back ? at - back : 0;

		others[i] = randhist_tree(&f->h, r->commits[from]);
		parents[i] = pos_of(f, others[i]);
	}
	pathlist_new(r, &expect, tree, others, nr);
	if (treediff_run(d, pos_of(f, tree), parents, nr, 0, &result, &err) < 0)
		fail_msg("%s", err.msg);
	check_result(f, &result, &expect);
	free(expect.items);
}

static void random_trees(void **state)
{
	static const size_t limits[] = {0, 30000, CACHE_LIMIT};
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct fixture f;

		setup(&f, algo, &seed);
		for (size_t i = 0; i < ARRAY_NR(limits); i++) {
			struct treediff *d = treediff_new(
				&f.space, NULL,
				&(struct treediff_options){
					.cache_limit = limits[i]});

			assert_non_null(d);
			for (int k = 0; k < 300; k++)
				compare_one(&f, d);
			treediff_free(d);
		}
		teardown(&f);
	}
}

/*
 * Objects in options.known are not reported as new. This set is closed under
 * reachability.
 */
static void known_objects_are_left_out(void **state)
{
	uint64_t seed = random_seed();
	struct bitset known;
	struct fixture f;

	setup(&f, HASH_SHA1, &seed);
	for (int k = 0; k < 100; k++) {
		struct randrepo *r = &f.h.r;
		bool *reached = calloc(RANDREPO_MAX, sizeof(bool));
		uint32_t at = randrepo_below(r, r->commit_nr);
		uint32_t tree = randhist_tree(&f.h, r->commits[at]);
		struct pathlist all, expect = {NULL, 0, 0};
		struct treediff_result result;
		struct treediff *d;

		assert_non_null(reached);
		randrepo_reach(r, reached,
			       r->commits[randrepo_below(r, r->commit_nr)]);
		assert_int_equal(bitset_init(&known, f.odb->packed_nr), 0);
		for (uint32_t i = 0; i < r->nr; i++) {
			reached[i] &= pos_of(&f, i) < f.odb->packed_nr;
			if (reached[i])
				bitset_set(&known, pos_of(&f, i));
		}
		pathlist_new(r, &all, tree, NULL, 0);
		for (size_t i = 0; i < all.nr; i++) {
			if (reached[all.items[i].nr])
				continue;
			assert_int_equal(mem_grow(&expect.items, &expect.alloc,
						  expect.nr + 1,
						  sizeof(*expect.items)),
					 0);
			expect.items[expect.nr++] = all.items[i];
		}
		d = treediff_new(
			&f.space, NULL,
			&(struct treediff_options){.known = &known,
						   .cache_limit = CACHE_LIMIT});
		assert_int_equal(treediff_run(d, pos_of(&f, tree), NULL, 0, 0,
					      &result, NULL),
				 0);
		check_result(&f, &result, &expect);
		treediff_free(d);
		bitset_release(&known);
		free(expect.items);
		free(all.items);
		free(reached);
	}
	teardown(&f);
}

/* Returns the packed tree that has the most paths. */
static uint32_t largest_tree(struct fixture *f)
{
	uint32_t best = 0;
	size_t best_nr = 0;

	for (uint32_t i = 0; i < 120; i++) {
		uint32_t tree = randhist_tree(&f->h, f->h.r.commits[i]);
		struct pathlist all = {NULL, 0, 0};

		pathlist_walk(&f->h.r, &all, tree, "");
		if (all.nr > best_nr) {
			best_nr = all.nr;
			best = tree;
		}
		free(all.items);
	}
	return best;
}

/*
 * With shared lists, an object is listed as new only for the earliest commit
 * (the one with the smallest number) that has it.
 */
static void shared_lists(void **state)
{
	uint64_t seed = random_seed();
	struct treediff_shared shared;
	struct treediff_result result;
	struct treediff *d;
	struct fixture f;
	uint32_t tree;

	setup(&f, HASH_SHA1, &seed);
	assert_int_equal(treediff_shared_init(&shared, f.odb->packed_nr), 0);
	d = treediff_new(
		&f.space, &shared,
		&(struct treediff_options){.cache_limit = CACHE_LIMIT});
	tree = pos_of(&f, largest_tree(&f));
	assert_true(tree < f.odb->packed_nr);
	assert_int_equal(treediff_run(d, tree, NULL, 0, 5, &result, NULL), 0);
	assert_true(result.tree_nr > 1 && result.blob_nr);
	assert_int_equal(treediff_run(d, tree, NULL, 0, 6, &result, NULL), 0);
	assert_int_equal(result.tree_nr + result.blob_nr, 0);
	assert_int_equal(treediff_run(d, tree, NULL, 0, 4, &result, NULL), 0);
	assert_true(result.tree_nr > 1 && result.blob_nr);
	assert_int_equal(treediff_run(d, tree, NULL, 0, 5, &result, NULL), 0);
	assert_int_equal(result.tree_nr + result.blob_nr, 0);
	treediff_free(d);
	treediff_shared_release(&shared);
	teardown(&f);
}

/* A tree can be compared with itself, and a parent can be given twice. */
static void same_trees(void **state)
{
	uint64_t seed = random_seed();
	struct treediff_result result;
	struct treediff *d;
	struct fixture f;
	uint32_t pos[3];

	setup(&f, HASH_SHA1, &seed);
	d = treediff_new(
		&f.space, NULL,
		&(struct treediff_options){.cache_limit = CACHE_LIMIT});
	for (int i = 0; i < 3; i++)
		pos[i] = pos_of(&f, randhist_tree(&f.h, f.h.r.commits[50]));
	assert_int_equal(treediff_run(d, pos[0], pos, 3, 0, &result, NULL), 0);
	assert_int_equal(result.tree_nr + result.blob_nr, 0);
	treediff_free(d);
	teardown(&f);
}

/*
 * Adds an object of type tree with the given bytes, which need not be a valid
 * tree.
 */
static uint32_t raw_tree(struct randrepo *r, const char *bytes, size_t len)
{
	struct buf data = BUF_INIT;
	uint32_t nr;

	buf_append(&data, bytes, len);
	nr = randrepo_add(r, OBJ_TREE, &data, NULL, 0);
	buf_release(&data);
	return nr;
}

static void expect_error(struct fixture *f, uint32_t tree_pos, int code,
			 const char *text)
{
	struct treediff *d = treediff_new(
		&f->space, NULL,
		&(struct treediff_options){.cache_limit = CACHE_LIMIT});
	struct treediff_result result;
	struct error err = ERROR_INIT;

	assert_int_equal(treediff_run(d, tree_pos, NULL, 0, 0, &result, &err),
			 code);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.msg, text));
	treediff_free(d);
}

static void check_broken(bool packed)
{
	static const char bad[] = "100644 a\0too short";
	uint64_t seed = random_seed();
	struct treediff_result result;
	struct treediff *d;
	struct pathlist expect;
	struct fixture f;
	struct oid absent;
	uint32_t good, parents[3];

	randhist_init(&f.h, HASH_SHA1, &seed);
	randhist_grow_by(&f.h, 10, false);
	parents[0] = raw_tree(&f.h.r, bad, sizeof(bad) - 1);
	parents[1] = randrepo_blob(&f.h.r, 3);
	if (packed)
		randtree_store_packs(&f.h.r);
	else
		randrepo_store(&f.h.r);
	assert_int_equal(odb_open(&f.odb, &f.h.r.t.repo, NULL, NULL), 0);
	objspace_init(&f.space, f.odb);
	memset(&absent, 0, sizeof(absent));
	memset(&absent, 7, 20);
	for (int i = 0; i < 2; i++)
		parents[i] = pos_of(&f, parents[i]);
	assert_int_equal(objspace_add(&f.space, absent.bytes, &parents[2]), 0);
	expect_error(&f, parents[0], ERR_CORRUPT, "malformed tree: ");
	expect_error(&f, parents[1], ERR_CORRUPT, "not a tree object: ");
	expect_error(&f, parents[2], ERR_MISSING, "is missing");
	/* A broken tree of a parent is ignored. */
	good = randhist_tree(&f.h, f.h.r.commits[9]);
	pathlist_new(&f.h.r, &expect, good, NULL, 0);
	d = treediff_new(
		&f.space, NULL,
		&(struct treediff_options){.cache_limit = CACHE_LIMIT});
	assert_int_equal(
		treediff_run(d, pos_of(&f, good), parents, 3, 0, &result, NULL),
		0);
	check_result(&f, &result, &expect);
	treediff_free(d);
	free(expect.items);
	teardown(&f);
}

static void broken_trees(void **state)
{
	check_broken(true);
	check_broken(false);
}

/* Trees that are nested one level deeper than the limit are an error. */
static void deep_trees(void **state)
{
	uint64_t seed = random_seed();
	struct treediff_result result;
	struct treediff *d;
	struct fixture f;
	uint32_t nr, last = 0;

	randhist_init(&f.h, HASH_SHA1, &seed);
	nr = raw_tree(&f.h.r, "", 0);
	for (int i = 0; i <= ODB_MAX_TREE_DEPTH; i++) {
		struct randrepo_tree t = {.data = BUF_INIT};

		last = nr;
		randrepo_entry(&f.h.r, &t, "40000", "d", nr);
		nr = randrepo_finish_tree(&f.h.r, &t);
	}
	randtree_store_packs(&f.h.r);
	assert_int_equal(odb_open(&f.odb, &f.h.r.t.repo, NULL, NULL), 0);
	objspace_init(&f.space, f.odb);
	expect_error(&f, pos_of(&f, nr), ERR_CORRUPT,
		     "exceeded maximum allowed tree depth: 4b825dc");
	d = treediff_new(
		&f.space, NULL,
		&(struct treediff_options){.cache_limit = CACHE_LIMIT});
	assert_int_equal(
		treediff_run(d, pos_of(&f, last), NULL, 0, 0, &result, NULL),
		0);
	assert_int_equal(result.tree_nr, ODB_MAX_TREE_DEPTH + 1);
	treediff_free(d);
	teardown(&f);
}

static void check_nested(bool packed, bool is_shared)
{
	uint64_t seed = random_seed();
	struct treediff_shared shared = {NULL, 0};
	struct treediff_result result;
	struct treediff *d;
	struct fixture f;
	uint32_t trees[2];

	randhist_init(&f.h, HASH_SHA1, &seed);
	for (uint32_t i = 0; i < 2; i++)
		trees[i] = randtree_nested(&f.h.r, randrepo_blob(&f.h.r, i));
	if (packed)
		randtree_store_packs(&f.h.r);
	else
		randrepo_store(&f.h.r);
	assert_int_equal(odb_open(&f.odb, &f.h.r.t.repo, NULL, NULL), 0);
	objspace_init(&f.space, f.odb);
	for (int i = 0; i < 2; i++)
		trees[i] = pos_of(&f, trees[i]);
	if (is_shared)
		assert_int_equal(
			treediff_shared_init(&shared, f.odb->packed_nr), 0);
	d = treediff_new(
		&f.space, is_shared ? &shared : NULL,
		&(struct treediff_options){.cache_limit = CACHE_LIMIT});
	for (uint32_t parent_nr = 0; parent_nr < 2; parent_nr++) {
		assert_int_equal(treediff_run(d, trees[parent_nr], trees,
					      parent_nr, parent_nr, &result,
					      NULL),
				 0);
		assert_int_equal(result.tree_nr, RANDTREE_LEVELS);
		assert_int_equal(result.blob_nr, RANDTREE_NESTED);
	}
	treediff_free(d);
	treediff_shared_release(&shared);
	teardown(&f);
}

/*
 * Few trees that have very many paths are compared quickly: each tree is listed
 * once.
 */
static void nested_trees(void **state)
{
	for (int i = 0; i < 4; i++)
		check_nested(i & 1, i & 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_trees),
		cmocka_unit_test(known_objects_are_left_out),
		cmocka_unit_test(shared_lists),
		cmocka_unit_test(same_trees),
		cmocka_unit_test(broken_trees),
		cmocka_unit_test(deep_trees),
		cmocka_unit_test(nested_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
