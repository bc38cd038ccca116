/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/tree-closure.c, which finds all objects that trees reach. The
 * results for random trees are compared with known closures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"
#include "trees/tree-closure.h"
#include "trees/treewalk.h"

#define ROOTS_MAX 40

/*
 * Chooses random trees as roots. Sets reached[i] for each object that they
 * reach. Returns the number of roots.
 */
static size_t random_roots(struct walkrepo *f, uint32_t *roots, bool *reached)
{
	struct randrepo *r = &f->h.r;
	size_t nr = randrepo_below(r, ROOTS_MAX);

	for (size_t i = 0; i < nr; i++) {
		uint32_t commit = r->commits[randrepo_below(r, r->commit_nr)];
		uint32_t tree = randhist_tree(&f->h, commit);

		roots[i] = walkrepo_pos(f, tree);
		randrepo_reach(r, reached, tree);
	}
	return nr;
}

/*
 * Sets excluded[] for all objects that a random commit reaches, and adds these
 * objects to `seen`. The search must not report them.
 */
static void exclude(struct walkrepo *f, struct bitset *seen, bool *excluded)
{
	struct randrepo *r = &f->h.r;

	randrepo_reach(r, excluded,
		       r->commits[randrepo_below(r, r->commit_nr)]);
	for (uint32_t i = 0; i < r->nr; i++) {
		uint32_t pos;

		if (!excluded[i])
			continue;
		pos = walkrepo_pos(f, i);
		assert_int_equal(bitset_grow(seen, pos + 1), 0);
		bitset_set(seen, pos);
	}
}

/*
 * Checks that exactly the reached objects that are not excluded were found,
 * each of them once. If `trees_only` is true, only trees may be found.
 */
static void check_found(struct walkrepo *f, const struct walk_items *found,
			const struct bitset *seen, const bool *reached,
			const bool *excluded, bool trees_only)
{
	struct randrepo *r = &f->h.r;
	size_t expected = 0;

	for (uint32_t i = 0; i < r->nr; i++) {
		uint32_t pos = walkrepo_pos(f, i);
		size_t times = 0;
		bool is_due = reached[i] && !excluded[i] &&
			      (r->objects[i].type == OBJ_TREE || !trees_only);

		for (size_t k = 0; k < found->nr; k++)
			if (found->items[k].obj_pos == pos) {
				assert_int_equal(found->items[k].type,
						 r->objects[i].type);
				times++;
			}
		assert_int_equal(times, is_due);
		assert_int_equal(bitset_get(seen, pos), is_due || excluded[i]);
		expected += is_due;
	}
	assert_int_equal(found->nr, expected);
}

static void find_and_check(struct walkrepo *f,
			   const struct tree_closure_options *options)
{
	bool *reached = calloc(RANDREPO_MAX, sizeof(*reached));
	bool *excluded = calloc(RANDREPO_MAX, sizeof(*excluded));
	struct walk_items found = {NULL, 0, 0};
	struct error err = ERROR_INIT;
	struct bitset seen = BITSET_INIT;
	uint32_t roots[ROOTS_MAX];
	size_t nr;

	assert_true(reached && excluded);
	assert_int_equal(bitset_init(&seen, objspace_end(&f->w.space)), 0);
	nr = random_roots(f, roots, reached);
	if (randrepo_below(&f->h.r, 2))
		exclude(f, &seen, excluded);
	if (tree_closure_find(&found, &seen, &f->w.space, roots, nr, options,
			      &err) < 0)
		fail_msg("%s", err.msg);
	check_found(f, &found, &seen, reached, excluded, options->trees_only);
	free(found.items);
	bitset_release(&seen);
	free(reached);
	free(excluded);
}

static void random_sets(void **state)
{
	static const size_t limits[] = {0, 5000, 60000};
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walkrepo f;

		walkrepo_init(&f, algo, &seed, 100, 10);
		for (int k = 0; k < 60; k++) {
			const struct tree_closure_options options = {
				.threads = 1 + (unsigned)k % 3,
				.cache_limit = limits[k % ARRAY_NR(limits)],
				.trees_only = k % 4 == 3,
			};

			find_and_check(&f, &options);
		}
		walkrepo_release(&f);
	}
}

static void expect_error(struct walkrepo *f, uint32_t tree_pos, int code,
			 const char *text)
{
	const struct tree_closure_options options = {.threads = 1};
	struct walk_items found = {NULL, 0, 0};
	struct bitset seen = BITSET_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(bitset_init(&seen, objspace_end(&f->w.space)), 0);
	assert_int_equal(tree_closure_find(&found, &seen, &f->w.space,
					   &tree_pos, 1, &options, &err),
			 code);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.msg, text));
	free(found.items);
	bitset_release(&seen);
}

static void broken_trees(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo f;
	struct oid absent;
	uint32_t pos;

	walkrepo_init(&f, HASH_SHA1, &seed, 10, 2);
	memset(&absent, 0, sizeof(absent));
	memset(&absent, 7, 20);
	assert_int_equal(objspace_add(&f.w.space, absent.bytes, &pos), 0);
	expect_error(&f, pos, ERR_MISSING, "is missing");
	pos = walkrepo_pos(&f, f.h.r.commits[3]);
	expect_error(&f, pos, ERR_CORRUPT, "not a tree object: ");
	walkrepo_release(&f);
}

/* Trees that are nested one level deeper than the limit are an error. */
static void deep_trees(void **state)
{
	const struct tree_closure_options options = {.threads = 2};
	uint64_t seed = random_seed();
	struct walk_items found = {NULL, 0, 0};
	struct bitset seen = BITSET_INIT;
	uint32_t nr, last = 0, pos;
	struct buf none = BUF_INIT;
	struct walkrepo f;

	walkrepo_init(&f, HASH_SHA1, &seed, 3, 0);
	walkrepo_close(&f);
	nr = randrepo_add(&f.h.r, OBJ_TREE, &none, NULL, 0);
	for (int i = 0; i <= ODB_MAX_TREE_DEPTH; i++) {
		struct randrepo_tree t = {.data = BUF_INIT};

		last = nr;
		randrepo_entry(&f.h.r, &t, "40000", "d", nr);
		nr = randrepo_finish_tree(&f.h.r, &t);
	}
	randtree_store_packs(&f.h.r);
	walkrepo_open(&f);
	expect_error(&f, walkrepo_pos(&f, nr), ERR_CORRUPT,
		     "exceeded maximum allowed tree depth: 4b825dc");
	pos = walkrepo_pos(&f, last);
	assert_int_equal(bitset_init(&seen, objspace_end(&f.w.space)), 0);
	assert_int_equal(tree_closure_find(&found, &seen, &f.w.space, &pos, 1,
					   &options, NULL),
			 0);
	assert_int_equal(found.nr, ODB_MAX_TREE_DEPTH + 1);
	free(found.items);
	bitset_release(&seen);
	walkrepo_release(&f);
}

/*
 * Looks up an id of zeros and other unusual ids. None of them may be mistaken
 * for an id from an earlier look-up.
 */
static void unusual_ids(void **state)
{
	static const uint8_t firsts[] = {0, 0xff, 0, 1, 0xff};
	const struct tree_closure_options options = {.threads = 1};
	uint64_t seed = random_seed();
	struct walk_items found = {NULL, 0, 0};
	struct bitset seen = BITSET_INIT;
	struct buf data = BUF_INIT;
	struct walkrepo f = {.h.trees = NULL};
	uint32_t nr, pos;

	randrepo_init(&f.h.r, HASH_SHA1, &seed);
	for (size_t i = 0; i < ARRAY_NR(firsts); i++) {
		uint8_t id[20];

		memset(id, firsts[i] == 0xff ? 0xff : 0, sizeof(id));
		id[0] = firsts[i];
		buf_printf(&data, "100644 %zu", i);
		buf_append_char(&data, '\0');
		buf_append(&data, id, sizeof(id));
	}
	nr = randrepo_add(&f.h.r, OBJ_TREE, &data, NULL, 0);
	randrepo_store(&f.h.r);
	walkrepo_open(&f);
	pos = walkrepo_pos(&f, nr);
	assert_int_equal(bitset_init(&seen, objspace_end(&f.w.space)), 0);
	assert_int_equal(tree_closure_find(&found, &seen, &f.w.space, &pos, 1,
					   &options, NULL),
			 0);
	assert_int_equal(found.nr, 4);
	free(found.items);
	bitset_release(&seen);
	buf_release(&data);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sets),
		cmocka_unit_test(broken_trees),
		cmocka_unit_test(deep_trees),
		cmocka_unit_test(unusual_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
