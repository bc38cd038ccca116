/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/tree-tally.c, which counts the paths of objects in two trees.
 * The results are compared with lists of all paths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/nomem.h"
#include "t/unit/walkrepo.h"
#include "trees/tree-tally.h"

/* Stands for the empty tree in place of an index in r.objects[]. */
#define NONE UINT32_MAX

static uint32_t pos_of(struct walkrepo *f, uint32_t nr)
{
	return nr == NONE ? TREE_TALLY_NONE : walkrepo_pos(f, nr);
}

/*
 * For each path in a tree, add `paths` to the count of the object at this path.
 */
static size_t count_paths(const struct walkrepo *f, int32_t *counts,
			  uint32_t tree, int32_t paths)
{
	struct pathlist list = {NULL, 0, 0};
	size_t nr;

	if (tree == NONE)
		return 0;
	pathlist_walk(&f->h.r, &list, tree, "");
	for (size_t i = 0; i < list.nr; i++)
		counts[list.items[i].nr] += paths;
	nr = list.nr;
	free(list.items);
	return nr;
}

static void check_rows(struct walkrepo *f, const struct tree_tally *tally,
		       int32_t *counts)
{
	for (size_t i = 0; i < tally->nr; i++) {
		const struct tree_tally_row *row = &tally->rows[i];
		uint32_t nr = walkrepo_nr(f, row->obj_pos);

		assert_true(!i || row->obj_pos > row[-1].obj_pos);
		assert_int_equal(row->type, f->h.r.objects[nr].type);
		assert_int_not_equal(row->paths, 0);
		assert_int_equal(row->paths, counts[nr]);
		counts[nr] = 0;
	}
	for (uint32_t i = 0; i < f->h.r.nr; i++)
		assert_int_equal(counts[i], 0);
}

static void check_pair(struct walkrepo *f, uint32_t old_nr, uint32_t new_nr)
{
	int32_t *counts = calloc(RANDREPO_MAX, sizeof(*counts));
	struct tree_tally tally = TREE_TALLY_INIT;
	struct tree_tally_limits limits = {.bytes = SIZE_MAX};
	struct error err = ERROR_INIT;

	assert_non_null(counts);
	limits.paths = count_paths(f, counts, old_nr, -1) +
		       count_paths(f, counts, new_nr, 1);
	if (tree_tally_compare(&tally, &f->w.space, f->w.reader,
			       pos_of(f, old_nr), pos_of(f, new_nr), &limits,
			       &err))
		fail_msg("%s", err.msg);
	check_rows(f, &tally, counts);
	tree_tally_release(&tally);
	free(counts);
}

/*
 * Compares two trees: of commits that are far apart, of neighbours, or of the
 * same commit. Some comparisons have no old tree. The counts of paths must be
 * right.
 */
static void random_pairs(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct walkrepo f;

		walkrepo_init(&f, algo, &seed, 100, 20);
		for (uint32_t i = 0; i < 300; i++) {
			struct randrepo *r = &f.h.r;
			uint32_t a = randrepo_below(r, r->commit_nr);
			uint32_t b = randrepo_below(r, r->commit_nr);
			uint32_t old_nr = randhist_tree(&f.h, r->commits[a]);

			if (i % 3)
				b = (a + i % 2) % r->commit_nr;
			if (i % 7 == 0)
				old_nr = NONE;
			check_pair(&f, old_nr,
				   randhist_tree(&f.h, r->commits[b]));
		}
		walkrepo_release(&f);
	}
}

/* Two trees that a test makes by hand. All objects are loose. */
struct pair {
	struct walkrepo f;
	struct randtree t;
	uint32_t old_nr, new_nr;
	struct tree_tally_limits limits;
	struct tree_tally tally;
};

static void begin(struct pair *p)
{
	uint64_t seed = 1;

	*p = (struct pair){.limits = {100, 4096}, .tally = TREE_TALLY_INIT};
	randhist_init(&p->f.h, HASH_SHA1, &seed);
	randtree_put(&p->t, "dir/a", 1);
	randtree_put(&p->t, "dir/b", 2);
	randtree_put(&p->t, "copy/a", 1);
	randtree_put(&p->t, "copy/b", 2);
	randtree_put(&p->t, "d", 2);
	p->old_nr = randtree_store(&p->f.h.r, &p->t, "");
}

static int compare(void *ctx, struct error *err)
{
	struct pair *p = ctx;

	return tree_tally_compare(&p->tally, &p->f.w.space, p->f.w.reader,
				  pos_of(&p->f, p->old_nr),
				  pos_of(&p->f, p->new_nr), &p->limits, err);
}

/*
 * Stores the objects except object number `missing` (NONE: all), and compares
 * the two trees. Returns the result of the comparison.
 */
static int run(struct pair *p, uint32_t missing)
{
	if (!p->new_nr)
		p->new_nr = randtree_store(&p->f.h.r, &p->t, "");
	for (uint32_t i = 0; i < p->f.h.r.nr; i++)
		if (i != missing)
			randrepo_store_one(&p->f.h.r, "objects", i);
	walkrepo_open(&p->f);
	return compare(p, NULL);
}

static void end(struct pair *p)
{
	tree_tally_release(&p->tally);
	walkrepo_close(&p->f);
	randhist_release(&p->f.h);
}

/*
 * Returns the number of paths in the object's row of p->tally; 0: there is no
 * row.
 */
static int32_t paths_of(struct pair *p, uint32_t nr)
{
	for (size_t i = 0; i < p->tally.nr; i++)
		if (walkrepo_nr(&p->f, p->tally.rows[i].obj_pos) == nr)
			return p->tally.rows[i].paths;
	return 0;
}

/*
 * One of two equal directories is removed. Its files are still at other paths,
 * but each has one path less.
 */
static void repeated_directory(void **state)
{
	struct pair p;

	begin(&p);
	randtree_put(&p.t, "copy", 2);
	assert_int_equal(run(&p, NONE), 0);
	assert_int_equal(paths_of(&p, p.old_nr), -1);
	assert_int_equal(paths_of(&p, p.new_nr), 1);
	assert_int_equal(paths_of(&p, randrepo_blob(&p.f.h.r, 1)), -1);
	assert_int_equal(paths_of(&p, randrepo_blob(&p.f.h.r, 2)), 0);
	assert_int_equal(p.tally.nr, 4);
	end(&p);
}

static void equal_trees(void **state)
{
	struct pair p;

	begin(&p);
	p.limits.paths = 0;
	assert_int_equal(run(&p, NONE), 0);
	assert_int_equal(p.tally.nr, 0);
	end(&p);
}

/*
 * The two trees differ at three paths: the root, a directory, and a file. A
 * path with different objects counts twice. So the comparison gives up if the
 * limit is five, but not if it is six.
 */
static void limit_of_paths(void **state)
{
	for (size_t max = 5; max < 7; max++) {
		struct pair p;

		begin(&p);
		p.limits.paths = max;
		randtree_put(&p.t, "dir/a", 7);
		assert_int_equal(run(&p, NONE), max < 6);
		end(&p);
	}
}

/*
 * Two trees are compared. The new tree has `nr` equal directories of ten
 * submodules, and the old tree has none. p.limits.bytes limits the number of
 * bytes of tree objects that the comparison may read. Returns the lowest limit
 * with which the comparison succeeds.
 */
static size_t least_bytes(size_t nr)
{
	size_t low = 0, high = 4096;
	char path[RANDTREE_PATH];
	struct pair p;

	begin(&p);
	for (size_t i = 0; i < 10 * nr; i++) {
		snprintf(path, sizeof(path), "sub%zu/%zu", i / 10, i % 10);
		randtree_put(&p.t, path, RANDTREE_GITLINK);
	}
	assert_int_equal(run(&p, NONE), 0);
	assert_int_equal(p.tally.nr, 3);
	while (high - low > 1) {
		p.limits.bytes = low + (high - low) / 2;
		if (compare(&p, NULL))
			low = p.limits.bytes;
		else
			high = p.limits.bytes;
	}
	end(&p);
	return high;
}

/* The limit of bytes counts a directory once for each of its paths. */
static void limit_of_bytes(void **state)
{
	const size_t entry = strlen("160000 0") + 1 + 20;
	const size_t dir = strlen("40000 sub0") + 1 + 20;
	size_t one = least_bytes(1);

	assert_int_equal(least_bytes(2) - one, 10 * entry + dir);
	assert_int_equal(least_bytes(4) - one, 3 * (10 * entry + dir));
}

static void missing_trees(void **state)
{
	struct pair p;

	begin(&p);
	randtree_put(&p.t, "e", 5);
	assert_int_equal(run(&p, p.old_nr), ERR_MISSING);
	end(&p);
	begin(&p);
	p.new_nr = randtree_store(&p.f.h.r, &p.t, "");
	p.old_nr = NONE;
	assert_int_equal(run(&p, p.new_nr), ERR_MISSING);
	end(&p);
}

/* Make a tree of one entry that has this mode and object. */
static uint32_t tree_of(struct randrepo *r, const char *mode, uint32_t nr)
{
	struct randrepo_tree t = {.data = BUF_INIT};

	randrepo_entry(r, &t, mode, "x", nr);
	return randrepo_finish_tree(r, &t);
}

static void malformed_trees(void **state)
{
	struct buf bytes = BUF_INIT;
	struct pair p;

	begin(&p);
	assert_int_equal(buf_append(&bytes, "100644 name without end", 23), 0);
	p.new_nr = randrepo_add(&p.f.h.r, OBJ_TREE, &bytes, NULL, 0);
	assert_int_equal(run(&p, NONE), ERR_CORRUPT);
	end(&p);
	buf_release(&bytes);
	/* A tree names a blob as a subtree. */
	begin(&p);
	p.new_nr = tree_of(&p.f.h.r, "40000", randrepo_blob(&p.f.h.r, 1));
	assert_int_equal(run(&p, NONE), ERR_CORRUPT);
	end(&p);
}

/*
 * One tree names an object as a tree, the other one names it as a blob. This is
 * an error.
 */
static void object_of_two_types(void **state)
{
	struct pair p;
	uint32_t tree;

	begin(&p);
	tree = p.old_nr;
	p.old_nr = tree_of(&p.f.h.r, "100644", tree);
	p.new_nr = tree_of(&p.f.h.r, "40000", tree);
	assert_int_equal(run(&p, NONE), ERR_CORRUPT);
	end(&p);
}

static void check_again(void *ctx)
{
	struct pair *p = ctx;

	assert_int_equal(p->tally.nr, 6);
}

static void no_memory(void **state)
{
	struct pair p;

	begin(&p);
	randtree_put(&p.t, "dir/a", 7);
	assert_int_equal(run(&p, NONE), 0);
	nomem_each(NULL, compare, check_again, &p);
	end(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_pairs),
		cmocka_unit_test(repeated_directory),
		cmocka_unit_test(equal_trees),
		cmocka_unit_test(limit_of_paths),
		cmocka_unit_test(limit_of_bytes),
		cmocka_unit_test(missing_trees),
		cmocka_unit_test(malformed_trees),
		cmocka_unit_test(object_of_two_types),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
