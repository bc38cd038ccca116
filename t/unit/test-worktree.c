/* SPDX-License-Identifier: MIT */
/*
 * Tests of repo/worktree.c, which finds linked work trees: each valid one is
 * visited with its path, and broken ones are left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repo/worktree.h"
#include "t/unit/tmprepo.h"

/*
 * Writes `text` as the file "gitdir" of a linked work tree (NULL: no file). The
 * path of the work tree must be `expected` (NULL: no work tree is found).
 */
static void check(const struct tmprepo *t, const char *text,
		  const char *expected)
{
	struct buf path = BUF_INIT;

	if (text)
		tmprepo_write(t, "gitdir", text);
	assert_int_equal(worktree_git_file(&path, t->dir), expected != NULL);
	assert_string_equal(path.data, expected ? expected : "");
	buf_release(&path);
}

static void test_git_file(void **state)
{
	struct buf relative = BUF_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	check(&t, NULL, NULL);
	check(&t, "", NULL);
	check(&t, "\n", NULL);
	check(&t, "/a/b/.git", "/a/b/.git");
	check(&t, "/a/b c/.git\r\n\n", "/a/b c/.git");
	buf_printf(&relative, "%s/../x/.git", t.dir);
	check(&t, "../x/.git\n", relative.data);
	buf_release(&relative);
	tmprepo_release(&t);
}

/* State of a callback. It stops the visit after `left` work trees. */
struct visit {
	/* Names of the visited work trees. */
	struct buf seen;
	int left;
	const char *common_dir;
};

static int visit(void *ctx, const char *name, const char *git_dir)
{
	struct buf expected = BUF_INIT;
	struct visit *v = ctx;

	buf_printf(&expected, "%s/worktrees/%s", v->common_dir, name);
	assert_string_equal(git_dir, expected.data);
	buf_release(&expected);
	buf_printf(&v->seen, "%s ", name);
	return --v->left ? 0 : 7;
}

static void test_each(void **state)
{
	struct visit v = {BUF_INIT, 3, NULL};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	v.common_dir = t.repo.common_dir;
	assert_int_equal(worktree_each(&t.repo, visit, &v, NULL), 0);
	assert_string_equal(v.seen.data, "");
	tmprepo_write(&t, "worktrees/a/gitdir", "x");
	tmprepo_write(&t, "worktrees/b/gitdir", "x");
	assert_int_equal(worktree_each(&t.repo, visit, &v, NULL), 0);
	assert_true(!strcmp(v.seen.data, "a b ") ||
		    !strcmp(v.seen.data, "b a "));
	assert_int_equal(worktree_each(&t.repo, visit, &v, NULL), 7);
	buf_release(&v.seen);
	tmprepo_release(&t);
}

static int fail_missing(void *ctx, const char *name, const char *git_dir)
{
	++*(int *)ctx;
	return ERR_MISSING;
}

/*
 * An error of the callback is returned, even ERR_MISSING. If listing the work
 * trees gives the same error, there are no work trees.
 */
static void error_of_callback(void **state)
{
	struct tmprepo t;
	int calls = 0;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(worktree_each(&t.repo, fail_missing, &calls, NULL), 0);
	assert_int_equal(calls, 0);
	tmprepo_write(&t, "worktrees/a/HEAD", "ref: refs/heads/main\n");
	assert_int_equal(worktree_each(&t.repo, fail_missing, &calls, NULL),
			 ERR_MISSING);
	assert_int_equal(calls, 1);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_git_file),
		cmocka_unit_test(test_each),
		cmocka_unit_test(error_of_callback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
