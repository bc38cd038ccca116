/* SPDX-License-Identifier: MIT */
/* repo/worktree.c: where the .git file of a work tree is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repo/worktree.h"
#include "t/unit/tmprepo.h"

/* With this content of "gitdir" (NULL: none), what is found; NULL: nothing. */
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

static void test_all(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
