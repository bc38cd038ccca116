/* SPDX-License-Identifier: MIT */
/* walk/treediff.c: what a tree adds, against its parents read whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "object/parse.h"
#include "t/unit/walkrepo.h"
#include "walk/treediff.h"

/* Objects of the tree `nr`, by the path they are found at. */
struct place {
	char path[16];
	uint32_t nr;
};

struct places {
	struct place items[64];
	size_t nr;
};

static void list(struct places *out, const struct walkrepo *w, uint32_t tree,
		 const char *dir)
{
	const struct randrepo_object *o = &w->r.objects[tree];
	struct cursor c = cursor_make(o->data.data, o->data.len);
	struct tree_entry entry;

	while (tree_next(&entry, &c, w->r.t.repo.algo) > 0) {
		struct place *p = &out->items[out->nr];
		struct oid oid;

		if (tree_entry_is_gitlink(&entry))
			continue;
		assert_true(out->nr++ < ARRAY_NR(out->items));
		snprintf(p->path, sizeof(p->path), "%s%s%s", dir,
			 *dir ? "/" : "", entry.name);
		oid_from_raw(&oid, entry.oid, w->r.t.repo.algo);
		p->nr = randrepo_find(&w->r, &oid);
		if (tree_entry_is_dir(&entry))
			list(out, w, p->nr, p->path);
	}
}

static bool has_place(const struct places *places, const struct place *p)
{
	for (size_t i = 0; i < places->nr; i++)
		if (places->items[i].nr == p->nr &&
		    !strcmp(places->items[i].path, p->path))
			return true;
	return false;
}

/* The twin: every place of the tree that no parent has. */
static void expect_new(struct places *own, struct walkrepo *w, uint32_t tree,
		       const uint32_t *parents, unsigned parent_nr)
{
	own->nr = 0;
	list(own, w, tree, "");
	own->items[own->nr++] = (struct place){"", tree};
	for (unsigned k = 0; k < parent_nr; k++) {
		struct places theirs = {.nr = 0};
		size_t kept = 0;

		list(&theirs, w, parents[k], "");
		theirs.items[theirs.nr++] = (struct place){"", parents[k]};
		for (size_t i = 0; i < own->nr; i++)
			if (!has_place(&theirs, &own->items[i]))
				own->items[kept++] = own->items[i];
		own->nr = kept;
	}
}

/* Whether the twin has this object under a path of this name hash. */
static bool is_expected(const struct places *own, uint32_t nr, uint32_t hash)
{
	for (size_t i = 0; i < own->nr; i++) {
		const struct place *p = &own->items[i];

		if (p->nr == nr &&
		    name_hash_add(0, p->path, strlen(p->path)) == hash)
			return true;
	}
	return false;
}

static void check(struct walkrepo *w, struct treediff *d, uint32_t tree,
		  const uint32_t *parents, unsigned parent_nr)
{
	uint32_t positions[NEWOBJ_MAX_PARENTS];
	struct treediff_result result;
	struct places own;

	for (unsigned k = 0; k < parent_nr; k++)
		positions[k] = walkrepo_pos(w, parents[k]);
	expect_new(&own, w, tree, parents, parent_nr);
	assert_int_equal(treediff_run(d, walkrepo_pos(w, tree), positions,
				      parent_nr, 0, &result, NULL),
			 0);
	assert_int_equal(result.tree_nr + result.blob_nr, own.nr);
	for (size_t i = 0; i < own.nr; i++) {
		bool is_tree = i < result.tree_nr;
		const struct newobj *item =
			is_tree ? &result.trees[i]
				: &result.blobs[i - result.tree_nr];
		uint32_t nr = walkrepo_nr(w, item->obj_pos);

		assert_int_equal(w->r.objects[nr].type,
				 is_tree ? OBJ_TREE : OBJ_BLOB);
		assert_true(is_expected(&own, nr, item->name_hash));
	}
}

static uint32_t random_tree(struct walkrepo *w)
{
	uint32_t c = randrepo_below(&w->r, w->r.commit_nr);

	return w->r.objects[w->r.commits[c]].refs[0];
}

static void random_trees(void **state)
{
	uint64_t seed = random_seed();
	const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};

	for (int a = 0; a < 2; a++) {
		struct treediff *d;
		struct walkrepo w;

		walkrepo_init(&w, algos[a], 50, &seed);
		d = treediff_new(&w.walk.space, NULL, NULL, 1 << 20);
		assert_non_null(d);
		for (int i = 0; i < 400; i++) {
			uint32_t parents[NEWOBJ_MAX_PARENTS];
			unsigned nr = randrepo_below(&w.r, 4);

			for (unsigned k = 0; k < nr; k++)
				parents[k] = random_tree(&w);
			check(&w, d, random_tree(&w), parents, nr);
		}
		treediff_free(d);
		walkrepo_release(&w);
	}
}

/* A parent that is not there is not compared with. */
static void missing_trees(void **state)
{
	uint64_t seed = random_seed();
	struct oid absent = {{7}};
	struct treediff_result result;
	struct treediff *d;
	struct walkrepo w;
	uint32_t pos, tree;

	walkrepo_init(&w, HASH_SHA1, 10, &seed);
	tree = walkrepo_pos(&w, random_tree(&w));
	assert_int_equal(objspace_add(&w.walk.space, absent.bytes, &pos), 0);
	d = treediff_new(&w.walk.space, NULL, NULL, 1 << 20);
	assert_int_equal(treediff_run(d, tree, &pos, 1, 0, &result, NULL), 0);
	assert_true(result.tree_nr > 0);
	assert_int_equal(treediff_run(d, pos, &tree, 1, 0, &result, NULL),
			 ERR_MISSING);
	treediff_free(d);
	walkrepo_release(&w);
}

/* What is known is left out, with all it reaches. */
static void known_objects(void **state)
{
	uint64_t seed = random_seed();
	struct bitset known = BITSET_INIT;
	struct treediff_result result;
	struct treediff *d;
	struct walkrepo w;
	uint32_t tree;

	walkrepo_init(&w, HASH_SHA1, 10, &seed);
	tree = walkrepo_pos(&w, random_tree(&w));
	assert_int_equal(bitset_init(&known, tree + 1), 0);
	bitset_set(&known, tree);
	d = treediff_new(&w.walk.space, NULL, &known, 1 << 20);
	assert_int_equal(treediff_run(d, tree, NULL, 0, 0, &result, NULL), 0);
	assert_int_equal(result.tree_nr + result.blob_nr, 0);
	treediff_free(d);
	bitset_release(&known);
	walkrepo_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_trees),
		cmocka_unit_test(missing_trees),
		cmocka_unit_test(known_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
