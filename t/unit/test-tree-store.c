/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/tree-store.c, which reads trees as tables. Each tree entry
 * (mode, name and id) has a number, and the table of a tree lists the numbers
 * of its entries. The tables are compared with the bytes of the trees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"
#include "trees/tree-store.h"

#define LIMIT ((size_t)1 << 20)

/*
 * Checks that the tree entry with the number `entry_nr` names the right object.
 */
static void check_object(struct walkrepo *f, struct tree_store *store,
			 uint32_t entry_nr)
{
	struct tree_entry entry = {0};
	uint32_t pos, expect;

	entry_pool_get(&entry, tree_store_pool(store), entry_nr,
		       f->w.space.odb->algo);
	if (tree_entry_is_gitlink(&entry))
		return;
	assert_int_equal(objspace_add(&f->w.space, entry.oid, &expect), 0);
	assert_int_equal(tree_store_object(store, entry_nr, &pos), 0);
	assert_int_equal(pos, expect);
}

static void check_tree(struct walkrepo *f, struct tree_store *store,
		       const struct tree *tree, uint32_t nr)
{
	const struct randrepo_object *o = &f->h.r.objects[nr];
	const struct entry_pool *pool = tree_store_pool(store);
	const struct tree_table *t = &tree->table;

	assert_int_equal(t->starts[t->nr], o->data.len);
	for (uint32_t i = 0; i < t->nr; i++) {
		size_t len = entry_pool_len(pool, t->entries[i]);

		assert_int_equal(t->starts[i + 1] - t->starts[i], len);
		assert_memory_equal(entry_pool_raw(pool, t->entries[i]),
				    o->data.data + t->starts[i], len);
		check_object(f, store, t->entries[i]);
	}
}

static void read_and_check(struct walkrepo *f, struct tree_store *store,
			   uint32_t nr)
{
	struct error err = ERROR_INIT;
	struct tree tree;

	if (tree_store_read(store, walkrepo_pos(f, nr), NULL, &tree, &err) < 0)
		fail_msg("%s", err.msg);
	check_tree(f, store, &tree, nr);
	tree_store_release(store, &tree);
	assert_null(tree.pin);
}

static void random_reads(void **state)
{
	static const size_t limits[] = {0, 10000, 60000, LIMIT};
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walkrepo f;

		walkrepo_init(&f, algo, &seed, 120, 10);
		for (size_t i = 0; i < 2 * ARRAY_NR(limits); i++) {
			size_t limit = limits[i % ARRAY_NR(limits)];
			struct tree_store *store = tree_store_new(&f.w.space,
								  limit, i % 2);

			assert_non_null(store);
			if (i == ARRAY_NR(limits))
				objspace_accelerate(&f.w.space);
			for (int k = 0; k < 2000; k++) {
				uint32_t nr = randrepo_below(&f.h.r, f.h.r.nr);

				if (f.h.r.objects[nr].type == OBJ_TREE)
					read_and_check(&f, store, nr);
				if (k % 50 == 0)
					assert_int_equal(tree_store_trim(store),
							 0);
			}
			tree_store_free(store);
		}
		walkrepo_release(&f);
	}
}

/* A tree in use remains valid while other trees are read. */
static void trees_in_use(void **state)
{
	uint64_t seed = random_seed();
	struct tree_store *store;
	struct tree *trees;
	struct walkrepo f;

	walkrepo_init(&f, HASH_SHA1, &seed, 80, 10);
	store = tree_store_new(&f.w.space, 5000, false);
	trees = calloc(f.h.r.nr, sizeof(*trees));
	assert_true(store && trees);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < f.h.r.nr; i++) {
			if (f.h.r.objects[i].type != OBJ_TREE)
				continue;
			if (!pass)
				assert_int_equal(
					tree_store_read(store,
							walkrepo_pos(&f, i),
							NULL, &trees[i], NULL),
					0);
			check_tree(&f, store, &trees[i], i);
			read_and_check(&f, store, i);
		}
	}
	for (uint32_t i = 0; i < f.h.r.nr; i++)
		tree_store_release(store, &trees[i]);
	free(trees);
	tree_store_free(store);
	tree_store_free(NULL);
	walkrepo_release(&f);
}

/*
 * When the store reaches its size limit, it drops all trees. Trees that are
 * needed later are read again.
 */
static void trimmed_store(void **state)
{
	uint64_t seed = random_seed();
	struct tree_store *store;
	struct walkrepo f;
	uint32_t nr;

	walkrepo_init(&f, HASH_SHA1, &seed, 30, 0);
	store = tree_store_new(&f.w.space, 20000, false);
	nr = randhist_tree(&f.h, f.h.r.commits[29]);
	read_and_check(&f, store, nr);
	assert_int_equal(tree_store_trim(store), 0);
	assert_true(tree_store_pool(store)->nr > 0);
	tree_store_free(store);
	store = tree_store_new(&f.w.space, 10, false);
	read_and_check(&f, store, nr);
	assert_int_equal(tree_store_trim(store), 0);
	assert_int_equal(tree_store_pool(store)->nr, 0);
	read_and_check(&f, store, nr);
	tree_store_free(store);
	walkrepo_release(&f);
}

/*
 * Malformed trees, deltas and objects of a wrong type are refused, with an
 * error message that says what is wrong.
 */
static void malformed_trees(void **state)
{
	static const char bad[] = "100644 a\0aaaaaaaaaaaaaaaaaaaa100644 b";
	struct packfile *p = malloc(sizeof(*p));
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct tree_store *store;
	struct walkrepo f;
	struct tree tree;
	uint32_t pos, good, blob;
	struct oid oid;

	assert_non_null(p);
	randrepo_init(&f.h.r, HASH_SHA1, &seed);
	f.h.trees = NULL;
	packfile_init(p, HASH_SHA1);
	packfile_add(p, OBJ_TREE, bad, sizeof(bad) - 1);
	good = packfile_add(p, OBJ_TREE, bad, 29);
	blob = packfile_add(p, OBJ_BLOB, bad, 29);
	memset(&oid, 0, sizeof(oid));
	for (uint32_t i = 0; i < 2; i++) {
		memset(&oid, (int)i + 1, 20);
		packfile_add_delta(p, OBJ_OFS_DELTA, i ? blob : good, 29,
				   "100755 c", &oid);
	}
	packfile_finish(p);
	tmprepo_write_len(&f.h.r.t, "objects/pack/pack-x.pack", p->bytes.data,
			  p->bytes.len);
	tmprepo_write_len(&f.h.r.t, "objects/pack/pack-x.idx", p->idx.data,
			  p->idx.len);
	walkrepo_open(&f);
	store = tree_store_new(&f.w.space, LIMIT, true);
	for (uint32_t i = 0; i < p->nr; i++) {
		assert_true(objspace_find(&f.w.space, p->oids[i].bytes, &pos));
		if (i == good) {
			assert_int_equal(
				tree_store_read(store, pos, NULL, &tree, NULL),
				0);
			assert_int_equal(tree.table.nr, 1);
			tree_store_release(store, &tree);
			continue;
		}
		assert_int_equal(tree_store_read(store, pos, NULL, &tree, &err),
				 ERR_CORRUPT);
		assert_null(tree.pin);
		assert_non_null(strstr(err.msg, i == blob || i == 4
							? "not a tree object: "
							: "malformed tree: "));
	}
	memset(&oid, 9, 20);
	assert_int_equal(objspace_add(&f.w.space, oid.bytes, &pos), 0);
	assert_int_equal(tree_store_read(store, pos, NULL, &tree, &err),
			 ERR_MISSING);
	tree_store_free(store);
	packfile_release(p);
	free(p);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_reads),
		cmocka_unit_test(trees_in_use),
		cmocka_unit_test(trimmed_store),
		cmocka_unit_test(malformed_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
