/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-update.c, which changes the refs of a push: in one
 * transaction for each command, or in one for all (atomic).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "t/unit/pushed.h"

static void two(const char *caps, const char *first, const char *second)
{
	struct buf text = BUF_INIT;
	struct pushed p;

	pushed_init(&p);
	pushed_commit(&p, "n1", "c4");
	pushed_command(&p, "c3 n1 refs/heads/main", caps);
	pushed_command(&p, "zero n1 refs/heads/new", NULL);
	buf_printf(&text, "unpack ok|%s|%s|F", first, second);
	assert_string_equal(pushed_run(&p, true), text.data);
	assert_true(pushed_ref_is(&p, "refs/heads/main", "c4"));
	assert_true(pushed_ref_is(&p, "refs/heads/new",
				  *second == 'o' ? "n1" : "zero"));
	buf_release(&text);
	pushed_release(&p);
}

static void test_separately(void **state)
{
	two("report-status", "ng refs/heads/main incorrect old value provided",
	    "ok refs/heads/new");
}

static void test_atomic(void **state)
{
	two("report-status atomic",
	    "ng refs/heads/main atomic transaction failed",
	    "ng refs/heads/new atomic transaction failed");
}

/*
 * Deletions are done before other changes. So one push can delete the ref
 * `side` and create `side/x`.
 */
static void test_makes_room(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_command(&p, "zero c1 refs/heads/side/x", "report-status");
	pushed_command(&p, "s0 zero refs/heads/side", NULL);
	assert_string_equal(pushed_run(&p, true),
			    "unpack ok|ok refs/heads/side/x|"
			    "ok refs/heads/side|F");
	pushed_release(&p);
}

static void test_namespace(void **state)
{
	struct pushed p;

	pushed_init(&p);
	p.options.namespace = "a";
	pushed_command(&p, "zero c1 refs/heads/x", "report-status");
	assert_string_equal(pushed_run(&p, true),
			    "unpack ok|ok refs/heads/x|F");
	assert_true(pushed_ref_is(&p, "refs/namespaces/a/refs/heads/x", "c1"));
	pushed_release(&p);
}

/* A branch must point to a commit. A tag may point to any object. */
static void test_values(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_command(&p, "zero t refs/heads/x", "report-status");
	pushed_command(&p, "zero t refs/tags/x", NULL);
	assert_string_equal(pushed_run(&p, true),
			    "unpack ok|ng refs/heads/x invalid new value "
			    "provided|ok refs/tags/x|F");
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_separately),
		cmocka_unit_test(test_atomic),
		cmocka_unit_test(test_makes_room),
		cmocka_unit_test(test_namespace),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
