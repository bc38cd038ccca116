/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive.c: the start and the end of a push, and which
 * objects the client of a push may know of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "t/unit/pushed.h"

static void test_init(void **state)
{
	struct receive r;
	struct pushed p;
	struct serve_io io;

	pushed_init(&p);
	dialog_config(&p.d, CONFIG_LOCAL,
		      "[receive]\nadvertiseAtomic = false\n"
		      "advertisePushOptions\ncertNonceSeed = s\n"
		      "[gitreach]\nmaxPushCommands = 7\n");
	io = dialog_io(&p.d);
	pushed_session(&p, &r, &io);
	assert_false(r.request.accept_atomic);
	assert_true(r.request.accept_options);
	assert_true(r.request.accept_cert);
	assert_int_equal(r.request.commands_max, 7);
	assert_int_equal(r.peer.band.mode, SIDEBAND_NONE);
	assert_false(r.is_limit);
	receive_release(&r);
	pushed_release(&p);
}

static void test_bad_config(void **state)
{
	struct error err = ERROR_INIT;
	struct receive r;
	struct pushed p;
	struct serve_io io;

	pushed_init(&p);
	dialog_config(&p.d, CONFIG_LOCAL, "[receive]\nunpackLimit = x\n");
	io = dialog_io(&p.d);
	assert_int_equal(receive_init(&r, &p.options, &io, &err), ERR_INVALID);
	receive_release(&r);
	pushed_release(&p);
}

static void test_discard(void **state)
{
	struct receive r;
	struct pushed p;
	struct serve_io io;

	pushed_init(&p);
	io = dialog_io(&p.d);
	pushed_session(&p, &r, &io);
	assert_int_equal(quarantine_create(&r.quarantine, r.repo, NULL), 0);
	assert_int_equal(pushed_leftovers(&p), 1);
	receive_discard(&r);
	assert_int_equal(pushed_leftovers(&p), 0);
	receive_discard(&r);
	assert_int_equal(p.told.len, 0);
	receive_release(&r);
	pushed_release(&p);
}

/*
 * Only a hidden ref reaches the commit h0. So clients must not learn that h0
 * exists.
 */
static void test_sees(void **state)
{
	struct receive r;
	struct pushed p;
	struct serve_io io;

	pushed_init(&p);
	dialog_config(&p.d, CONFIG_LOCAL,
		      "[gitreach]\nreachableOnly\n"
		      "[transfer]\nhideRefs = refs/hidden\n");
	io = dialog_io(&p.d);
	pushed_session(&p, &r, &io);
	assert_true(r.is_limit);
	assert_int_equal(receive_sees(&r, dialog_oid(&p.d, "c4"), NULL), 1);
	assert_int_equal(receive_sees(&r, dialog_oid(&p.d, "h0"), NULL), 0);
	receive_release(&r);
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init),
		cmocka_unit_test(test_bad_config),
		cmocka_unit_test(test_discard),
		cmocka_unit_test(test_sees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
