/* SPDX-License-Identifier: MIT */
/*
 * Tests of simplify/path-look.c, which finds single paths in trees. The results
 * for random trees and names are compared with the tree diff of path-changes.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "simplify/simplify-parts.h"
#include "t/unit/pathspecs.h"
#include "t/unit/walkrepo.h"

static const char *const names[] = {
	"a",   "a.c",   "a-b",   "a0", "ab", "lib",  "lib.c", "z",
	"a/a", "lib/z", "a/a/a", "a/", ".",  "lib/", "nope",  "lib/nope/x",
};

static void check_pair(struct walkrepo *f, const struct pathspec *ps,
		       uint32_t a, uint32_t b)
{
	struct path_changes *p = path_changes_new(&f->w.space, 1 << 20);
	struct path_look *l = path_look_new(&f->w.space, ps, 1 << 20);

	assert_true(path_look_fits(ps));
	assert_non_null(p);
	assert_non_null(l);
	path_changes_limit(p, ps);
	assert_int_equal(path_look_differs(l, a, b, NULL),
			 path_changes_run(p, a, b, pathspecs_stop, NULL, NULL));
	assert_int_equal(path_look_differs(l, a, PATH_CHANGES_NO_TREE, NULL),
			 path_changes_run(p, a, PATH_CHANGES_NO_TREE,
					  pathspecs_stop, NULL, NULL));
	assert_int_equal(path_look_differs(l, PATH_CHANGES_NO_TREE, b, NULL),
			 path_changes_run(p, PATH_CHANGES_NO_TREE, b,
					  pathspecs_stop, NULL, NULL));
	assert_int_equal(path_look_differs(l, a, a, NULL), 0);
	path_changes_free(p);
	path_look_free(l);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 2; i++) {
		struct walkrepo f;

		walkrepo_init(&f, i ? HASH_SHA256 : HASH_SHA1, &seed, 60, 10);
		for (int k = 0; k < 400; k++) {
			uint32_t a = walkrepo_some_commit(&f);
			uint32_t b = walkrepo_some_commit(&f);
			size_t nr = ARRAY_NR(names);
			struct pathspec ps;

			pathspecs_parse(
				&ps, names[random_next(&seed) % nr],
				random_next(&seed) % 3
					? NULL
					: names[random_next(&seed) % nr]);
			check_pair(&f, &ps,
				   walkrepo_pos(&f, f.h.r.objects[a].refs[0]),
				   walkrepo_pos(&f, f.h.r.objects[b].refs[0]));
			pathspec_release(&ps);
		}
		walkrepo_release(&f);
	}
}

static void test_unfit(void **state)
{
	static const char *const patterns[] = {"*.c", ":(icase)a", ":!a"};

	for (size_t i = 0; i < ARRAY_NR(patterns); i++) {
		struct pathspec ps;

		pathspecs_parse(&ps, patterns[i], "a");
		assert_false(path_look_fits(&ps));
		pathspec_release(&ps);
	}
}

static void test_no_tree(void **state)
{
	struct error err = ERROR_INIT;
	uint64_t seed = random_seed();
	struct pathspec ps;
	struct walkrepo f;
	struct path_look *l;
	uint32_t commit;

	walkrepo_init(&f, HASH_SHA1, &seed, 10, 0);
	pathspecs_parse(&ps, "a", NULL);
	l = path_look_new(&f.w.space, &ps, 0);
	commit = walkrepo_pos(&f, walkrepo_some_commit(&f));
	assert_int_equal(
		path_look_differs(l, commit, PATH_CHANGES_NO_TREE, &err),
		ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "not a tree object: "));
	path_look_free(l);
	pathspec_release(&ps);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_unfit),
		cmocka_unit_test(test_no_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
