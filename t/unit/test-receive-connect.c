/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-connect.c, which checks that the repository has all
 * objects that a push needs: complete pushes are accepted, and others are
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "receive/receive-check.h"
#include "t/unit/pushed.h"

/*
 * Push commit n1 with the parent `parent`. Returns whether the push is
 * accepted.
 */
static bool accepts(struct pushed *p, const char *parent, const char *command)
{
	bool is;

	pushed_commit(p, "n1", parent);
	pushed_command(p, command, "report-status");
	is = strstr(pushed_run(p, true), "|ok ");
	assert_int_equal(pushed_leftovers(p), 0);
	return is;
}

static void check(const char *parent, const char *command, bool expected)
{
	struct pushed p;

	pushed_init(&p);
	assert_int_equal(accepts(&p, parent, command), expected);
	pushed_release(&p);
}

/*
 * A push is accepted only if all objects that the parent of the new commit
 * reaches are known to exist. Each of the following facts is a proof.
 */
static void test_ways(void **state)
{
	/* The parent of the pushed commit is the old value in the command. */
	check("c4", "c4 n1 refs/heads/main", true);
	/* The parent of the pushed commit is HEAD. */
	check("c4", "zero n1 refs/heads/new", true);
	/* The parent of the pushed commit is the value of refs/heads/side. */
	check("s0", "zero n1 refs/heads/new", true);
	/* The tag v1 points to the parent of the pushed commit. */
	check("c3", "zero n1 refs/heads/new", true);
	/* The parent of the pushed commit is the value of a hidden ref. */
	check("h0", "zero n1 refs/heads/new", true);
	/* HEAD reaches the parent of the pushed commit. */
	check("c1", "zero n1 refs/heads/new", true);
	/*
	 * No ref reaches the parent `lost`. But `lost` and all objects that it
	 * reaches exist.
	 */
	check("lost", "zero n1 refs/heads/new", true);
	check("none", "zero n1 refs/heads/new", false);
	check(NULL, "zero n1 refs/heads/new", true);
	/*
	 * The old value in the command does not exist, so it does not prove
	 * that the parent exists.
	 */
	check("none", "none n1 refs/heads/main", false);
}

/*
 * With gitreach.reachableOnly, clients may only use objects that visible refs
 * reach.
 */
static void test_limit(void **state)
{
	static const struct {
		const char *parent, *command;
		bool accepted;
	} cases[] = {
		{"c4", "c4 n1 refs/heads/main", true},
		{"c4", "zero n1 refs/heads/new", true},
		{"s0", "zero n1 refs/heads/new", true},
		{"c3", "zero n1 refs/heads/new", true},
		{"c1", "zero n1 refs/heads/new", true},
		{"h0", "zero n1 refs/heads/new", false},
		{"lost", "zero n1 refs/heads/new", false},
		{"lost", "lost n1 refs/heads/new", false},
		{"none", "zero n1 refs/heads/new", false},
		{"t", "zero n1 refs/heads/new", false},
		/* A push without objects. */
		{"c4", "zero c2 refs/heads/new", true},
		{"c4", "zero v1 refs/tags/new", true},
		{"c4", "zero lost refs/heads/new", false},
		{"c4", "zero h0 refs/heads/new", false},
		{"c4", "zero none refs/heads/new", false},
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct pushed p;

		pushed_init(&p);
		dialog_config(&p.d, CONFIG_LOCAL,
			      "[gitreach]\nreachableOnly\n"
			      "[transfer]\nhideRefs = refs/hidden\n");
		assert_int_equal(accepts(&p, cases[i].parent, cases[i].command),
				 cases[i].accepted);
		if (!cases[i].accepted)
			assert_non_null(strstr(p.told.data,
					       "error: objects are missing\n"));
		pushed_release(&p);
	}
}

/*
 * The parent of the pushed commit exists, but the parent's own parent is
 * missing. The push must be refused.
 */
static void test_leftovers(void **state)
{
	struct pushed p;

	pushed_init(&p);
	dialog_commit(&p.d, "broken", 1700000050, "none", NULL);
	assert_false(accepts(&p, "broken", "zero n1 refs/heads/new"));
	pushed_release(&p);
	/*
	 * A ref points to the parent of the pushed commit, but this parent is
	 * missing. The push must be refused.
	 */
	pushed_init(&p);
	dialog_ref(&p.d, "refs/heads/ghost", "none");
	assert_false(accepts(&p, "none", "zero n1 refs/heads/new"));
	pushed_release(&p);
}

static void push_dated(struct pushed *p, const char *name, const char *parent,
		       unsigned date)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "tree %s\n", dialog_hex(&p->d, "t"));
	buf_printf(&text, "parent %s\n", dialog_hex(&p->d, parent));
	buf_printf(&text,
		   "author A <a@b> %u +0000\ncommitter A <a@b> %u +0000\n\nx\n",
		   date, date);
	pushed_object(p, name, OBJ_COMMIT, text.data, text.len);
	buf_release(&text);
}

/*
 * New commits have old dates. The walk must not read the whole history.
 * Otherwise it would find the corrupt commit that c5 reaches.
 */
static void test_old_dates(void **state)
{
	struct pushed p;

	pushed_init(&p);
	dialog_object(&p.d, "bad", OBJ_COMMIT, "not a commit");
	dialog_commit(&p.d, "c5", 1700000050, "bad", NULL);
	dialog_commit(&p.d, "c6", 1700000060, "c5", NULL);
	dialog_ref(&p.d, "refs/heads/six", "c6");
	push_dated(&p, "n1", "c6", 2);
	push_dated(&p, "n2", "n1", 1);
	pushed_command(&p, "c6 n2 refs/heads/six", "report-status");
	assert_non_null(strstr(pushed_run(&p, true), "|ok "));
	pushed_release(&p);
}

/*
 * A commit that was a tip before the push is not checked again. Here the tree
 * of this commit has the wrong type.
 */
static void test_tip_that_was_there(void **state)
{
	struct buf text = BUF_INIT;
	struct pushed p;

	pushed_init(&p);
	dialog_config(&p.d, CONFIG_LOCAL, "[gitreach]\nreachableOnly\n");
	buf_printf(&text,
		   "tree %s\nauthor A <a@b> 1 +0000\n"
		   "committer A <a@b> 1 +0000\n\nx\n",
		   dialog_hex(&p.d, "c4"));
	dialog_object(&p.d, "wrong", OBJ_COMMIT, text.data);
	dialog_ref(&p.d, "refs/heads/wrong", "wrong");
	assert_true(accepts(&p, "c4", "zero wrong refs/heads/new"));
	buf_release(&text);
	pushed_release(&p);
}

static void push_tree(struct pushed *p, const char *mode, const char *entry,
		      bool expected)
{
	struct buf tree = BUF_INIT, text = BUF_INIT;
	const struct oid *oid = dialog_oid(&p->d, entry);

	buf_printf(&tree, "%s x%c", mode, '\0');
	buf_append(&tree, oid->bytes, 20);
	pushed_object(p, "nt", OBJ_TREE, tree.data, tree.len);
	buf_printf(&text, "tree %s\nparent %s\n", dialog_hex(&p->d, "nt"), "");
	buf_set_len(&text, text.len - 8);
	buf_printf(&text, "author A <a@b> 1 +0000\n"
			  "committer A <a@b> 1 +0000\n\nx\n");
	pushed_object(p, "nc", OBJ_COMMIT, text.data, text.len);
	pushed_command(p, "zero nc refs/heads/new", "report-status");
	assert_int_equal(strstr(pushed_run(p, true), "|ok ") != NULL, expected);
	buf_release(&tree);
	buf_release(&text);
}

static void test_trees(void **state)
{
	struct pushed p;

	pushed_init(&p);
	push_tree(&p, "100644", "none", false);
	pushed_release(&p);
	pushed_init(&p);
	push_tree(&p, "40000", "none", false);
	pushed_release(&p);
	pushed_init(&p);
	push_tree(&p, "40000", "t", true);
	pushed_release(&p);
	/* The commit of a submodule entry need not exist. */
	pushed_init(&p);
	push_tree(&p, "160000", "none", true);
	pushed_release(&p);
	pushed_init(&p);
	pushed_object(&p, "b", OBJ_BLOB, "x", 1);
	push_tree(&p, "100644", "b", true);
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_old_dates),
		cmocka_unit_test(test_tip_that_was_there),
		cmocka_unit_test(test_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
