/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/shallow.c, requests that move the shallow boundary, in
 * protocols v0 and v2: the server sends the right shallow and unshallow lines,
 * and the right pack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/dialog.h"

static void check(struct dialog *d, const char *script, const char *want)
{
	assert_string_equal(dialog_answer(d, script), want);
}

#define W "want c4 no-progress|"

static void test_depth(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	check(&d, W "deepen 1|F|done",
	      "shallow c4|F|NAK|=PACK wants=c4 shallow=c4");
	check(&d, W "deepen 3|F|done",
	      "shallow c2|F|NAK|=PACK wants=c4 shallow=c2");
	check(&d, W "want s0|deepen 2|F|done",
	      "shallow c3|shallow c1|F|NAK|=PACK wants=c4,s0 shallow=c3,c1");
	/*
	 * A root commit at exactly the depth limit is sent as shallow, as stock
	 * Git does.
	 */
	check(&d, W "deepen 5|F|done",
	      "shallow c0|F|NAK|=PACK wants=c4 shallow=c0");
	check(&d, W "deepen 6|F|done", "F|NAK|=PACK wants=c4");
	check(&d, W "want v1|deepen 1|F|done",
	      "shallow c4|shallow c3|F|NAK|=PACK wants=c4,v1 shallow=c4,c3");
	dialog_release(&d);
}

static void test_deepen(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	check(&d, W "shallow c3|deepen 3|F|have c4|F|done",
	      "shallow c2|unshallow c3|F|ACK c4|"
	      "=PACK wants=c4,c2 haves=c4,c3 shallow=c2,c3");
	check(&d, W "shallow c3|deepen 2|F|done",
	      "F|NAK|=PACK wants=c4 shallow=c3");
	check(&d, W "shallow c3|deepen 2147483647|F|done",
	      "unshallow c3|F|NAK|=PACK wants=c4,c2 haves=c3 shallow=c3");
	check(&d, W "shallow c3|shallow s0|deepen 2147483647|F|done",
	      "unshallow c3|unshallow s0|F|NAK|"
	      "=PACK wants=c4,c2,c1 haves=c3,s0 shallow=c3,s0");
	check(&d, W "shallow none|deepen 1|F|done",
	      "shallow c4|F|NAK|=PACK wants=c4 shallow=c4");
	dialog_release(&d);
}

static void test_relative(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	check(&d,
	      "want c4 no-progress deepen-relative|shallow c3|deepen 2|F|done",
	      "shallow c1|unshallow c3|F|NAK|"
	      "=PACK wants=c4,c2 haves=c3 shallow=c1,c3");
	/*
	 * The wants do not reach the shallow boundary of the client. So nothing
	 * is deepened.
	 */
	check(&d,
	      "want c4 no-progress deepen-relative|shallow s0|deepen 1|F|done",
	      "F|NAK|=PACK wants=c4 shallow=s0");
	check(&d,
	      "want s0 no-progress deepen-relative|shallow s0|deepen 1|F|done",
	      "shallow c1|unshallow s0|F|NAK|"
	      "=PACK wants=s0,c1 haves=s0 shallow=c1,s0");
	check(&d, "want c4 no-progress deepen-relative|deepen 1|F|done",
	      "F|NAK|=PACK wants=c4");
	dialog_release(&d);
}

static void test_since_and_not(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	check(&d, W "deepen-since 1700000003|F|done",
	      "shallow c2|F|NAK|=PACK wants=c4 shallow=c2");
	check(&d, W "deepen-since 1|F|done", "F|NAK|=PACK wants=c4");
	check(&d, W "deepen-since 1800000000|F|done",
	      "ERR no commits selected for shallow requests");
	check(&d, W "deepen-not refs/tags/v1|F|done",
	      "shallow c4|F|NAK|=PACK wants=c4 shallow=c4");
	check(&d, W "deepen-not side|F|done",
	      "shallow c2|F|NAK|=PACK wants=c4 shallow=c2");
	check(&d, W "deepen-not side|deepen-since 1700000004|F|done",
	      "shallow c3|F|NAK|=PACK wants=c4 shallow=c3");
	check(&d, W "deepen-not main|F|done",
	      "ERR no commits selected for shallow requests");
	dialog_release(&d);
}

/* A shallow client keeps its shallow boundary: it asks for no other depth. */
static void test_keep(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	check(&d, W "shallow c3|F|have c3|F|done",
	      "ACK c3|=PACK wants=c4 haves=c3 shallow=c3");
	dialog_release(&d);
}

static void test_v2(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	check(&d, "command=fetch|D|no-progress|want c4|deepen 2|done|F",
	      "shallow-info|shallow c3|D|packfile|1:PACK wants=c4 "
	      "shallow=c3|F");
	check(&d,
	      "command=fetch|D|no-progress|want c4|shallow c3|have c4|"
	      "deepen-relative|deepen 1|F",
	      "acknowledgments|ACK c4|ready|D|shallow-info|shallow c2|"
	      "unshallow c3|D|packfile|"
	      "1:PACK wants=c4,c2 haves=c4,c3 shallow=c2,c3|F");
	check(&d, "command=fetch|D|no-progress|want c4|shallow c3|done|F",
	      "shallow-info|D|packfile|1:PACK wants=c4 shallow=c3|F");
	check(&d, "command=fetch|D|no-progress|want c4|shallow none|done|F",
	      "packfile|1:PACK wants=c4|F");
	dialog_release(&d);
}

/* The shallow boundary of the server's repository is sent to clients. */
static void test_shallow_repository(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_ref(&d, "shallow", "c2");
	d.options.version = 2;
	check(&d, "command=fetch|D|no-progress|want c4|done|F",
	      "shallow-info|shallow c2|D|packfile|1:PACK wants=c4 "
	      "shallow=c2|F");
	check(&d, "command=fetch|D|no-progress|want c4|deepen 2147483647|F",
	      "shallow-info|shallow c2|D|packfile|1:PACK wants=c4 "
	      "shallow=c2|F");
	check(&d, "command=fetch|D|no-progress|want c4|deepen 1|done|F",
	      "shallow-info|shallow c4|D|packfile|1:PACK wants=c4 "
	      "shallow=c4|F");
	d.options.version = 0;
	check(&d, W "F|done", "NAK|=PACK wants=c4");
	dialog_release(&d);
}

static void test_errors(void **state)
{
	static const char *const cases[][2] = {
		{"shallow zz", "ERR invalid shallow line: shallow zz"},
		{"shallow t", "ERR invalid shallow object t"},
		{"deepen zz", "ERR Invalid deepen: deepen zz"},
		{"deepen 0", "ERR Invalid deepen: deepen 0"},
		{"deepen -1", "ERR Invalid deepen: deepen -1"},
		{"deepen 4294967297", "ERR Invalid deepen: deepen 4294967297"},
		{"deepen-since zz", "ERR Invalid deepen-since: deepen-since "
				    "zz"},
		{"deepen-not zz", "ERR upload-pack: deepen-not is not a ref: "
				  "deepen-not zz"},
		{"deepen 1|deepen-not side",
		 "ERR upload-pack: deepen and deepen-since (or deepen-not) "
		 "cannot be used together"},
	};
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char script[128];

		snprintf(script, sizeof(script), W "%s|F", cases[i][0]);
		check(&d, script, cases[i][1]);
		assert_int_equal(d.ret, ERR_PEER);
	}
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_deepen),
		cmocka_unit_test(test_relative),
		cmocka_unit_test(test_since_and_not),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_v2),
		cmocka_unit_test(test_shallow_repository),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
