/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/session.c: which files of the repository a connection opens.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/dialog.h"

#include "serve/session.h"

static int open_session(struct session *s, struct dialog *d, struct error *err)
{
	struct serve_io io = dialog_io(d);

	return session_init(s, &d->options, &io, err);
}

/* Objects, history and refs are opened only when they are first used. */
static void test_opens_nothing(void **state)
{
	struct dialog d;
	struct session s;

	dialog_init(&d, HASH_SHA1);
	assert_int_equal(open_session(&s, &d, NULL), 0);
	assert_null(s.odb);
	assert_false(s.walk_is_open || s.refs_are_open);
	session_release(&s);
	dialog_release(&d);
}

static void test_bad_configuration(void **state)
{
	struct error err = ERROR_INIT;
	struct dialog d;
	struct session s;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_LOCAL, "[lsrefs]\nunborn = sometimes\n");
	assert_int_equal(open_session(&s, &d, &err), ERR_INVALID);
	assert_string_equal(err.msg,
			    "invalid value for 'lsrefs.unborn': 'sometimes'");
	session_release(&s);
	dialog_release(&d);
}

static void test_peel(void **state)
{
	struct ref ref = {.name = "refs/x"};
	struct dialog d;
	struct session s;
	struct oid peeled;

	dialog_init(&d, HASH_SHA1);
	assert_int_equal(open_session(&s, &d, NULL), 0);
	ref.oid = *dialog_oid(&d, "v1");
	assert_int_equal(session_peel_ref(&s, &ref, &peeled, NULL), 1);
	assert_true(oid_equal(&peeled, dialog_oid(&d, "c3")));
	ref.oid = *dialog_oid(&d, "c1");
	assert_int_equal(session_peel_ref(&s, &ref, &peeled, NULL), 0);
	ref.oid = *dialog_oid(&d, "none");
	assert_int_equal(session_peel_ref(&s, &ref, &peeled, NULL), 0);
	assert_string_equal(d.warnings.data,
			    "refs/x does not point to a valid object!\n");
	/* If packed-refs has the peeled value, no object is read. */
	ref.has_peeled = ref.is_tag = true;
	ref.peeled = *dialog_oid(&d, "c2");
	assert_int_equal(session_peel_ref(&s, &ref, &peeled, NULL), 1);
	assert_true(oid_equal(&peeled, dialog_oid(&d, "c2")));
	session_release(&s);
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opens_nothing),
		cmocka_unit_test(test_bad_configuration),
		cmocka_unit_test(test_peel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
