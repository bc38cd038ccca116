/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-check.c, which checks each command of a push: bad
 * names, forbidden updates, and branches that a work tree has checked out are
 * rejected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "t/unit/pushed.h"

static void check(const char *config, bool is_bare, const char *command,
		  const char *expected)
{
	struct buf text = BUF_INIT;
	struct pushed p;

	pushed_init(&p);
	dialog_config(&p.d, CONFIG_LOCAL, config);
	p.d.t.repo.is_bare = is_bare;
	pushed_commit(&p, "n1", "c4");
	pushed_command(&p, command, "report-status");
	buf_printf(&text, "unpack ok|%s|F", expected);
	assert_string_equal(pushed_run(&p, !strstr(command, " zero ")),
			    text.data);
	buf_release(&text);
	pushed_release(&p);
}

static void test_names(void **state)
{
	check("", true, "zero n1 refs/heads/a..b",
	      "ng refs/heads/a..b funny refname");
	check("", true, "zero n1 HEAD", "ng HEAD funny refname");
	check("", true, "zero n1 refs/x", "ng refs/x funny refname");
	check("[receive]\nhideRefs = refs/heads\n", true,
	      "c4 n1 refs/heads/main",
	      "ng refs/heads/main deny updating a hidden ref");
}

static void test_deny(void **state)
{
	check("[receive]\ndenyDeletes\n", true, "s0 zero refs/heads/side",
	      "ng refs/heads/side deletion prohibited");
	check("", true, "c4 zero refs/heads/main",
	      "ng refs/heads/main deletion of the current branch prohibited");
	check("[receive]\ndenyDeleteCurrent = ignore\n", true,
	      "c4 zero refs/heads/main", "ok refs/heads/main");
	check("", false, "c4 n1 refs/heads/main",
	      "ng refs/heads/main branch is currently checked out");
	check("[receive]\ndenyCurrentBranch = warn\n", false,
	      "c4 n1 refs/heads/main", "ok refs/heads/main");
	check("[receive]\ndenyNonFastForwards\n", true, "s0 n1 refs/heads/side",
	      "ng refs/heads/side non-fast-forward");
	check("[receive]\ndenyNonFastForwards\n", true, "c4 n1 refs/heads/main",
	      "ok refs/heads/main");
	check("[receive]\ndenyNonFastForwards\n", true, "s0 t refs/heads/side",
	      "ng refs/heads/side bad ref");
}

/*
 * Commits with dates far in the past lie between the old and the new value. The
 * push must still count as a fast-forward.
 */
static void test_skewed_dates(void **state)
{
	static const char *const line[] = {"c4", "n1", "n2", "n3", "n4",
					   "n5", "n6", "n7", "n8", "n9"};
	struct pushed p;

	pushed_init(&p);
	dialog_config(&p.d, CONFIG_LOCAL, "[receive]\ndenyNonFastForwards\n");
	for (size_t i = 1; i < 10; i++)
		pushed_commit_at(&p, line[i], 1000, line[i - 1]);
	pushed_commit(&p, "tip", "n9");
	pushed_command(&p, "c4 tip refs/heads/main", "report-status");
	assert_string_equal(pushed_run(&p, true),
			    "unpack ok|ok refs/heads/main|F");
	pushed_release(&p);
}

static void test_worktree(void **state)
{
	struct pushed p;

	pushed_init(&p);
	tmprepo_write(&p.d.t, "worktrees/w/HEAD", "ref: refs/heads/side\n");
	pushed_commit(&p, "n1", "s0");
	pushed_command(&p, "s0 n1 refs/heads/side", "report-status");
	assert_string_equal(
		pushed_run(&p, true),
		"unpack ok|ng refs/heads/side branch is currently checked "
		"out|F");
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_deny),
		cmocka_unit_test(test_skewed_dates),
		cmocka_unit_test(test_worktree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
