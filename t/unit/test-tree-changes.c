/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/tree-changes.c, tree diffs: the results are compared with full
 * walks of both trees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"
#include "trees/treediff.h"

/*
 * Compares two trees, which are given as indexes in r.objects[]. Sets found[i]
 * for each object of the new tree that is reported as new. Sets old[i] for each
 * object of the old tree that is marked as seen.
 */
static int compare(struct walkrepo *f, uint32_t old_nr, uint32_t new_nr,
		   bool *found, bool *old)
{
	struct walk_items items = {0};
	struct treewalk walk;
	int ret;

	assert_int_equal(treewalk_init(&walk, &f->w.space, f->w.reader), 0);
	ret = tree_changes_find(&items, &walk, walkrepo_pos(f, old_nr),
				walkrepo_pos(f, new_nr), NULL);
	for (size_t i = 0; i < items.nr; i++) {
		uint32_t nr = walkrepo_nr(f, items.items[i].obj_pos);

		assert_int_equal(items.items[i].type, f->h.r.objects[nr].type);
		found[nr] = true;
	}
	for (uint32_t at = 0; at < objspace_end(&f->w.space); at++)
		if (bitset_test(&walk.seen, at))
			old[walkrepo_nr(f, at)] = true;
	treewalk_release(&walk);
	free(items.items);
	return ret;
}

static bool check_pair(struct walkrepo *f, uint32_t old_nr, uint32_t new_nr)
{
	bool *found = walkrepo_set(), *old = walkrepo_set();
	bool *of_old = walkrepo_set(), *of_new = walkrepo_set();
	int ret = compare(f, old_nr, new_nr, found, old);

	randrepo_reach(&f->h.r, of_old, old_nr);
	randrepo_reach(&f->h.r, of_new, new_nr);
	assert_in_range(ret, 0, 1);
	for (uint32_t i = 0; i < f->h.r.nr && !ret; i++) {
		assert_true(!found[i] || of_new[i]);
		assert_true(!old[i] || of_old[i]);
		assert_true(found[i] || of_old[i] || !of_new[i]);
	}
	free(found);
	free(old);
	free(of_old);
	free(of_new);
	return !ret;
}

static void random_pairs(void **state)
{
	uint64_t seed = random_seed();
	unsigned told = 0;

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walkrepo f;

		walkrepo_init(&f, algo, &seed, 100, 20);
		for (uint32_t i = 0; i < 300; i++) {
			const struct randrepo *r = &f.h.r;
			uint32_t a = randrepo_below(&f.h.r, r->commit_nr);
			uint32_t b = i % 2 ? randrepo_below(&f.h.r,
							    r->commit_nr)
					   : (a + 1) % r->commit_nr;

			told += check_pair(&f,
					   randhist_tree(&f.h, r->commits[a]),
					   randhist_tree(&f.h, r->commits[b]));
		}
		walkrepo_release(&f);
	}
	assert_true(told > 20);
}

/* Two trees that a test makes by hand. All objects are loose. */
struct pair {
	struct walkrepo f;
	struct randtree t;
	uint32_t old_nr, new_nr;
	bool *found, *old;
};

static void begin(struct pair *p, uint64_t *seed)
{
	*p = (struct pair){.t = {.nr = 0}};
	randhist_init(&p->f.h, HASH_SHA1, seed);
	randtree_put(&p->t, "dir/a", 1);
	randtree_put(&p->t, "dir/b", 2);
	randtree_put(&p->t, "same/c", 3);
	randtree_put(&p->t, "d", 4);
	p->old_nr = randtree_store(&p->f.h.r, &p->t, "");
}

/*
 * Stores the objects of both trees, except object number `missing` (UINT32_MAX:
 * none), and compares the trees. Returns the result of the comparison.
 */
static int run(struct pair *p, uint32_t missing)
{
	p->new_nr = randtree_store(&p->f.h.r, &p->t, "");
	for (uint32_t i = 0; i < p->f.h.r.nr; i++)
		if (i != missing)
			randrepo_store_one(&p->f.h.r, "objects", i);
	walkrepo_open(&p->f);
	p->found = walkrepo_set();
	p->old = walkrepo_set();
	return compare(&p->f, p->old_nr, p->new_nr, p->found, p->old);
}

static void end(struct pair *p)
{
	free(p->found);
	free(p->old);
	walkrepo_close(&p->f);
	randhist_release(&p->f.h);
}

static unsigned count(const struct pair *p, const bool *set)
{
	unsigned nr = 0;

	for (uint32_t i = 0; i < p->f.h.r.nr; i++)
		nr += set[i];
	return nr;
}

static void one_file_changed(void **state)
{
	uint64_t seed = random_seed();
	struct pair p;

	begin(&p, &seed);
	p.t.nr = 0;
	randtree_put(&p.t, "dir/a", 7);
	randtree_put(&p.t, "dir/b", 2);
	randtree_put(&p.t, "same/c", 3);
	randtree_put(&p.t, "d", 4);
	assert_int_equal(run(&p, UINT32_MAX), 0);
	assert_int_equal(count(&p, p.found), 3);
	assert_int_equal(count(&p, p.old), 3);
	assert_true(p.found[p.new_nr] && p.old[p.old_nr]);
	end(&p);
}

/*
 * A file has got another name. Its blob is reported as new, and is also marked
 * as an object of the old tree.
 */
static void moved_file(void **state)
{
	uint64_t seed = random_seed();
	uint32_t blob;
	struct pair p;

	begin(&p, &seed);
	blob = randrepo_blob(&p.f.h.r, 4);
	p.t.nr--;
	randtree_put(&p.t, "dir/e", 4);
	assert_int_equal(run(&p, UINT32_MAX), 0);
	assert_true(p.found[blob] && p.old[blob]);
	end(&p);
}

static void a_directory_is_new(void **state)
{
	uint64_t seed = random_seed();
	struct pair p;

	begin(&p, &seed);
	randtree_put(&p.t, "new/e", 5);
	assert_int_equal(run(&p, UINT32_MAX), 1);
	end(&p);
}

static void limit_of_new_entries(void **state)
{
	uint64_t seed = random_seed();
	struct pair p;
	char path[16];

	for (int extra = 0; extra < 2; extra++) {
		begin(&p, &seed);
		for (int i = 0; i < TREE_CHANGES_ADDED_MAX + extra; i++) {
			snprintf(path, sizeof(path), "dir/n%d", i);
			randtree_put(&p.t, path, (uint8_t)(10 + i));
		}
		assert_int_equal(run(&p, UINT32_MAX), extra);
		end(&p);
	}
}

static void equal_trees(void **state)
{
	uint64_t seed = random_seed();
	struct pair p;

	begin(&p, &seed);
	assert_int_equal(run(&p, UINT32_MAX), 0);
	assert_int_equal(count(&p, p.found), 0);
	assert_int_equal(count(&p, p.old), 1);
	end(&p);
}

/*
 * If the old tree is missing, the comparison returns ERR_MISSING. If the new
 * tree is missing, it returns 1, because the list of new objects is not
 * complete.
 */
static void missing_subtrees(void **state)
{
	uint64_t seed = random_seed();
	struct pair p;

	begin(&p, &seed);
	randtree_put(&p.t, "e", 5);
	assert_int_equal(run(&p, p.old_nr), ERR_MISSING);
	end(&p);
	begin(&p, &seed);
	randtree_put(&p.t, "e", 5);
	assert_int_equal(run(&p, p.f.h.r.nr + 1), 1);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_pairs),
		cmocka_unit_test(one_file_changed),
		cmocka_unit_test(moved_file),
		cmocka_unit_test(a_directory_is_new),
		cmocka_unit_test(limit_of_new_entries),
		cmocka_unit_test(equal_trees),
		cmocka_unit_test(missing_subtrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
