/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-hooks.c: hooks get the right input, and a failing
 * hook rejects the push or one of its refs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "t/unit/pushed.h"

#define BAND "report-status side-band-64k"

static void test_all(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_hook(&p, "pre-receive", "x=$(cat); printf 'pre\\n%s\\n' \"$x\"");
	pushed_hook(&p, "update", "cat; echo up $1");
	pushed_hook(&p, "reference-transaction", "cat >/dev/null; echo $1");
	pushed_hook(&p, "post-receive",
		    "x=$(cat); printf 'post\\n%s\\n' \"$x\"");
	pushed_hook(&p, "post-update", "echo done $* >&2");
	pushed_command(&p, "s0 zero refs/heads/side", BAND);
	pushed_run(&p, false);
	assert_non_null(strstr(p.d.text.data, "2:pre\ns0 zero refs/heads/side|"
					      "2:up refs/heads/side|"));
	/*
	 * The output of the hook reference-transaction is not sent to the
	 * client.
	 */
	assert_null(strstr(p.d.text.data, "prepar"));
	assert_non_null(strstr(p.d.text.data, "2:post\ns0 zero refs/heads/side|"
					      "2:done refs/heads/side|F"));
	pushed_release(&p);
}

static void decline(const char *hook, const char *reason)
{
	struct buf expected = BUF_INIT;
	struct pushed p;

	pushed_init(&p);
	pushed_hook(&p, hook, "exit 1");
	pushed_commit(&p, "n1", "c4");
	pushed_command(&p, "c4 n1 refs/heads/main", "report-status");
	buf_printf(&expected, "unpack ok|ng refs/heads/main %s|F", reason);
	assert_string_equal(pushed_run(&p, true), expected.data);
	assert_true(pushed_ref_is(&p, "refs/heads/main", "c4"));
	assert_int_equal(pushed_leftovers(&p), 0);
	buf_release(&expected);
	pushed_release(&p);
}

static void test_decline(void **state)
{
	decline("pre-receive", "pre-receive hook declined");
	decline("update", "hook declined");
	decline("reference-transaction", "failed to update refs");
}

/*
 * The hooks post-receive and post-update run only if a ref was changed. They
 * cannot refuse a push.
 */
static void test_post(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_hook(&p, "post-receive", "echo post; exit 1");
	pushed_command(&p, "s0 zero refs/heads/side", BAND);
	assert_non_null(strstr(pushed_run(&p, false), "2:post|F"));
	buf_reset(&p.d.in);
	pushed_command(&p, "s0 zero refs/heads/side", BAND);
	assert_null(strstr(pushed_run(&p, false), "2:post"));
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_decline),
		cmocka_unit_test(test_post),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
