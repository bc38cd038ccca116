/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-worktree.c, which finds the work tree of a pushed
 * branch, in bare repositories, main work trees and linked ones. Updating a
 * work tree needs stock Git; t5405-update-instead.sh tests it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "receive/receive-worktree.h"
#include "t/unit/pushed.h"

struct fixture {
	struct pushed p;
	struct serve_io io;
	struct receive r;
	struct receive_worktree found;
};

static void open_session(struct fixture *f)
{
	f->io = dialog_io(&f->p.d);
	pushed_session(&f->p, &f->r, &f->io);
}

static int find(struct fixture *f, const char *full)
{
	struct error err = ERROR_INIT;
	int with, without;

	receive_worktree_release(&f->found);
	with = receive_worktree_find(&f->found, &f->r, full, &err);
	without = receive_worktree_find(NULL, &f->r, full, &err);
	assert_int_equal(with, without);
	return with;
}

static void release(struct fixture *f)
{
	receive_worktree_release(&f->found);
	receive_release(&f->r);
	pushed_release(&f->p);
}

/*
 * Asserts that `path` is "<git directory>/<name>", or the git directory if
 * `name` is "".
 */
static void assert_below(const struct fixture *f, const char *path,
			 const char *name)
{
	size_t len = strlen(f->p.d.t.dir);

	assert_non_null(path);
	assert_int_equal(strncmp(path, f->p.d.t.dir, len), 0);
	assert_string_equal(path + len, name);
}

static void test_bare(void **state)
{
	struct fixture f = {0};

	pushed_init(&f.p);
	open_session(&f);
	assert_int_equal(find(&f, "refs/heads/main"), 0);
	release(&f);
}

/*
 * If the git directory is not called ".git", only core.worktree tells where the
 * work tree is.
 */
static void test_main(void **state)
{
	struct fixture f = {0};

	pushed_init(&f.p);
	f.p.d.t.repo.is_bare = false;
	open_session(&f);
	assert_int_equal(find(&f, "refs/heads/main"), 1);
	assert_below(&f, f.found.git_dir, "");
	assert_null(f.found.dir);
	assert_int_equal(find(&f, "refs/heads/side"), 0);
	dialog_config(&f.p.d, CONFIG_LOCAL, "[core]\nworktree = hooks\n");
	pushed_hook(&f.p, "x", "");
	assert_int_equal(find(&f, "refs/heads/main"), 1);
	assert_below(&f, f.found.dir, "/hooks");
	release(&f);
}

static void test_linked(void **state)
{
	struct fixture f = {0};

	pushed_init(&f.p);
	tmprepo_write(&f.p.d.t, "worktrees/a/HEAD", "ref: refs/heads/side\n");
	tmprepo_write(&f.p.d.t, "worktrees/a/gitdir", "/there/a/.git\n");
	tmprepo_write(&f.p.d.t, "worktrees/b/HEAD", "ref: refs/heads/b\n");
	tmprepo_write(&f.p.d.t, "worktrees/b/gitdir", "../../../b/.git\n");
	tmprepo_write(&f.p.d.t, "worktrees/c/HEAD", "ref: refs/heads/c\n");
	open_session(&f);
	assert_int_equal(find(&f, "refs/heads/side"), 1);
	assert_below(&f, f.found.git_dir, "/worktrees/a");
	assert_string_equal(f.found.dir, "/there/a");
	assert_int_equal(find(&f, "refs/heads/b"), 1);
	assert_below(&f, f.found.dir, "/worktrees/b/../../../b");
	assert_int_equal(find(&f, "refs/heads/c"), 1);
	assert_null(f.found.dir);
	assert_int_equal(find(&f, "refs/heads/main"), 0);
	release(&f);
}

static const char *push_side(struct fixture *f, const char *command)
{
	buf_reset(&f->p.d.in);
	packfile_release(&f->p.pack);
	packfile_init(&f->p.pack, HASH_SHA1);
	pushed_commit(&f->p, "n1", "s0");
	pushed_command(&f->p, command, "report-status");
	return pushed_run(&f->p, true);
}

/*
 * The hook push-to-checkout gets the path of the work tree in GIT_WORK_TREE. It
 * does not run if the ref has another value than the old id of the command.
 */
static void test_hook(void **state)
{
	struct fixture f = {0};
	struct buf script = BUF_INIT;

	pushed_init(&f.p);
	dialog_config(&f.p.d, CONFIG_LOCAL,
		      "[receive]\ndenyCurrentBranch = updateInstead\n");
	tmprepo_write(&f.p.d.t, "worktrees/a/HEAD", "ref: refs/heads/side\n");
	assert_string_equal(push_side(&f, "s0 n1 refs/heads/side"),
			    "unpack ok|ng refs/heads/side denyCurrentBranch = "
			    "updateInstead needs a worktree|F");
	tmprepo_write(&f.p.d.t, "worktrees/a/gitdir", "/there/a/.git\n");
	buf_printf(&script,
		   "echo \"$1 $GIT_WORK_TREE\" >'%s/told'\n"
		   "test -e '%s/fine'",
		   f.p.d.t.dir, f.p.d.t.dir);
	pushed_hook(&f.p, "push-to-checkout", script.data);
	assert_string_equal(push_side(&f, "s0 n1 refs/heads/side"),
			    "unpack ok|ng refs/heads/side push-to-checkout "
			    "hook declined|F");
	buf_reset(&script);
	buf_printf(&script, "%s/told", f.p.d.t.dir);
	buf_reset(&f.p.told);
	assert_int_equal(sys_read_any(&f.p.told, script.data, NULL), 0);
	assert_non_null(strstr(f.p.told.data, " /there/a\n"));
	assert_int_equal(sys_unlink(script.data, NULL), 0);
	tmprepo_write(&f.p.d.t, "fine", "");
	assert_non_null(strstr(push_side(&f, "c4 n1 refs/heads/side"),
			       "|ng refs/heads/side "));
	assert_true(access(script.data, F_OK) < 0);
	assert_string_equal(push_side(&f, "s0 n1 refs/heads/side"),
			    "unpack ok|ok refs/heads/side|F");
	assert_true(pushed_ref_is(&f.p, "refs/heads/side", "n1"));
	buf_release(&script);
	pushed_release(&f.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_main),
		cmocka_unit_test(test_linked),
		cmocka_unit_test(test_hook),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
