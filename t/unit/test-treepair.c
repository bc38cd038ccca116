/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/treepair.c, which pairs objects of a new tree with the old
 * versions at the same path. The pairs are compared with lists of all paths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"
#include "trees/treediff.h"

struct expecting {
	struct walkrepo *w;
	struct pathlist newer, older;
	/*
	 * Number of pairs found, and number at which the callback stops the
	 * search.
	 */
	size_t nr, limit;
};

static int note_pair(void *ctx, uint32_t new_pos, uint32_t old_pos,
		     enum object_type type, const char *path, size_t path_len,
		     struct error *err)
{
	struct expecting *e = ctx;
	uint32_t new_nr = walkrepo_nr(e->w, new_pos);
	uint32_t old_nr = walkrepo_nr(e->w, old_pos);

	assert_int_equal(strlen(path), path_len);
	assert_true(pathlist_has(&e->newer, path, new_nr));
	assert_true(pathlist_has(&e->older, path, old_nr));
	assert_int_not_equal(new_nr, old_nr);
	assert_int_equal(e->w->h.r.objects[new_nr].type, type);
	assert_int_equal(e->w->h.r.objects[old_nr].type, type);
	return ++e->nr == e->limit ? 7 : 0;
}

/*
 * Returns the number of other versions of an object in the old tree: objects of
 * the same type at the same path.
 */
static size_t count_versions(const struct expecting *e,
			     const struct pathlist_item *item)
{
	const struct randrepo_object *objects = e->w->h.r.objects;
	size_t nr = 0;

	for (size_t i = 0; i < e->older.nr; i++) {
		const struct pathlist_item *old = &e->older.items[i];

		nr += item->nr != old->nr &&
		      objects[item->nr].type == objects[old->nr].type &&
		      !strcmp(item->path, old->path);
	}
	return nr;
}

/*
 * Returns the number of pairs. The entries of a directory are compared once.
 * So the paths below its second path are not counted.
 */
static size_t count_pairs(const struct expecting *e)
{
	const struct pathlist *l = &e->newer;
	bool *compared = walkrepo_set();
	size_t pairs = 0;

	for (size_t i = 0, next; i < l->nr; i = next) {
		uint32_t nr = l->items[i].nr;
		size_t versions = count_versions(e, &l->items[i]);

		next = i + 1;
		pairs += versions;
		while (compared[nr] && next < l->nr &&
		       pathlist_is_below(l, i, l->items[next].path))
			next++;
		compared[nr] |= versions &&
				e->w->h.r.objects[nr].type == OBJ_TREE;
	}
	free(compared);
	return pairs;
}

static void random_trees(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo w;
	size_t pairs = 0;

	walkrepo_init(&w, HASH_SHA1, &seed, 30, 10);
	for (int i = 0; i < 60; i++) {
		struct expecting e = {.w = &w};
		uint32_t trees[2];

		for (int k = 0; k < 2; k++)
			trees[k] = randhist_tree(
				&w.h, w.h.r.commits[randrepo_below(
					      &w.h.r, w.h.r.commit_nr)]);
		pathlist_walk(&w.h.r, &e.newer, trees[0], "");
		pathlist_walk(&w.h.r, &e.older, trees[1], "");
		assert_int_equal(treepair_run(&w.w.space, w.w.reader,
					      walkrepo_pos(&w, trees[0]),
					      walkrepo_pos(&w, trees[1]),
					      note_pair, &e, NULL),
				 0);
		assert_int_equal(e.nr, count_pairs(&e));
		pairs += e.nr;
		if (e.nr > 1) {
			e.limit = e.nr / 2;
			e.nr = 0;
			assert_int_equal(
				treepair_run(&w.w.space, w.w.reader,
					     walkrepo_pos(&w, trees[0]),
					     walkrepo_pos(&w, trees[1]),
					     note_pair, &e, NULL),
				7);
			assert_int_equal(e.nr, e.limit);
		}
		free(e.newer.items);
		free(e.older.items);
	}
	assert_true(pairs > 100);
	walkrepo_release(&w);
}

static int count_only(void *ctx, uint32_t new_pos, uint32_t old_pos,
		      enum object_type type, const char *path, size_t path_len,
		      struct error *err)
{
	++*(size_t *)ctx;
	return 0;
}

/* A tree that cannot be read counts as empty. This is no error. */
static void unreadable_trees(void **state)
{
	static const uint8_t nothing[OID_MAX_LEN] = {9};
	uint64_t seed = random_seed();
	struct walkrepo w;
	uint32_t tree, blob, absent;
	size_t nr = 0;

	walkrepo_init(&w, HASH_SHA1, &seed, 5, 5);
	tree = walkrepo_pos(&w, randhist_tree(&w.h, w.h.r.commits[0]));
	blob = randrepo_blob(&w.h.r, 777);
	randrepo_store(&w.h.r);
	walkrepo_reopen(&w);
	assert_int_equal(objspace_add(&w.w.space, nothing, &absent), 0);
	assert_int_equal(treepair_run(&w.w.space, w.w.reader, tree, absent,
				      count_only, &nr, NULL),
			 0);
	assert_int_equal(treepair_run(&w.w.space, w.w.reader,
				      walkrepo_pos(&w, blob), tree, count_only,
				      &nr, NULL),
			 0);
	assert_int_equal(treepair_run(&w.w.space, w.w.reader, tree, tree,
				      count_only, &nr, NULL),
			 0);
	assert_int_equal(nr, 2);
	walkrepo_release(&w);
}

/*
 * Few trees that have very many paths are compared quickly: the entries of each
 * tree are compared once.
 */
static void nested_trees(void **state)
{
	uint64_t seed = random_seed();
	struct walkrepo w;
	uint32_t trees[2];
	size_t nr = 0;

	walkrepo_init(&w, HASH_SHA1, &seed, 5, 5);
	for (uint32_t i = 0; i < 2; i++)
		trees[i] = randtree_nested(&w.h.r,
					   randrepo_blob(&w.h.r, 700 + i));
	randrepo_store(&w.h.r);
	walkrepo_reopen(&w);
	assert_int_equal(
		treepair_run(&w.w.space, w.w.reader, walkrepo_pos(&w, trees[0]),
			     walkrepo_pos(&w, trees[1]), count_only, &nr, NULL),
		0);
	assert_int_equal(nr, 1 + RANDTREE_LEVELS * RANDTREE_NESTED);
	walkrepo_release(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_trees),
		cmocka_unit_test(unreadable_trees),
		cmocka_unit_test(nested_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
