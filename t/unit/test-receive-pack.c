/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-pack.c: whole pushes, and pushes that are cut off.
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

static void test_update_and_create(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_commit(&p, "n1", "c4");
	pushed_command(&p, "c4 n1 refs/heads/main", "report-status");
	pushed_command(&p, "zero n1 refs/heads/new", NULL);
	assert_string_equal(pushed_run(&p, true),
			    "unpack ok|ok refs/heads/main|ok refs/heads/new|"
			    "F");
	assert_int_equal(p.d.ret, 0);
	assert_true(pushed_ref_is(&p, "refs/heads/main", "n1"));
	assert_true(pushed_ref_is(&p, "refs/heads/new", "n1"));
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);
}

static void test_delete_needs_no_pack(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_command(&p, "s0 zero refs/heads/side", "report-status");
	assert_string_equal(pushed_run(&p, false),
			    "unpack ok|ok refs/heads/side|F");
	assert_true(pushed_ref_is(&p, "refs/heads/side", "zero"));
	pushed_release(&p);
}

static void test_nothing(void **state)
{
	struct pushed p;

	pushed_init(&p);
	assert_string_equal(pushed_run(&p, false), "");
	assert_int_equal(p.d.ret, 0);
	pushed_release(&p);
}

static void test_bad_request(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_command(&p, "hello", "report-status");
	assert_string_equal(pushed_run(&p, false),
			    "ERR protocol error: expected old/new/ref, got "
			    "'hello'");
	assert_int_equal(p.d.ret, ERR_PEER);
	pushed_release(&p);
}

/*
 * If a request is cut off at any byte, no ref changes and no file is left
 * behind.
 */
static void test_cut_off(void **state)
{
	struct pushed p;
	size_t len;

	pushed_init(&p);
	pushed_commit(&p, "n1", "c4");
	pushed_command(&p, "c4 n1 refs/heads/main", BAND);
	pushed_run(&p, true);
	assert_true(pushed_ref_is(&p, "refs/heads/main", "n1"));
	dialog_ref(&p.d, "refs/heads/main", "c4");
	len = p.d.in.len;
	while (len--) {
		struct serve_io io = dialog_io(&p.d);

		buf_set_len(&p.d.in, len);
		p.d.read = 0;
		p.d.chunk = 1 + len % 7;
		buf_reset(&p.d.out);
		receive_pack_serve(&p.options, &io, NULL);
		assert_true(pushed_ref_is(&p, "refs/heads/main", "c4"));
		assert_int_equal(pushed_leftovers(&p), 0);
	}
	pushed_release(&p);
}

/* The client closes the connection before it gets the response. */
static void test_no_answer(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_commit(&p, "n1", "c4");
	pushed_command(&p, "c4 n1 refs/heads/main", BAND);
	p.d.write_max = 0;
	pushed_run(&p, true);
	assert_int_equal(p.d.ret, ERR_PEER);
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);
}

static void test_tell(void **state)
{
	struct pushed p;

	pushed_init(&p);
	pushed_command(&p, "none zero refs/heads/none", "report-status");
	assert_string_equal(pushed_run(&p, false),
			    "unpack ok|ok refs/heads/none|F");
	assert_string_equal(p.told.data,
			    "warning: deleting a non-existent ref\n");
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_update_and_create),
		cmocka_unit_test(test_delete_needs_no_pack),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_bad_request),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
