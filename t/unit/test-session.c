/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/session.c, the state of one connection. Refs, objects and
 * other parts of the repository are opened only when they are needed.
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

/* Objects, history and refs are not opened before their first use. */
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
	/* packed-refs has the peeled id, so no object is read. */
	ref.has_peeled = ref.is_tag = true;
	ref.peeled = *dialog_oid(&d, "c2");
	assert_int_equal(session_peel_ref(&s, &ref, &peeled, NULL), 1);
	assert_true(oid_equal(&peeled, dialog_oid(&d, "c2")));
	session_release(&s);
	dialog_release(&d);
}

static int own_objects(void *ctx, struct odb **odb, struct error *warning,
		       struct error *err)
{
	struct dialog *d = ctx;

	error_set(warning, ERR_CORRUPT, "own objects");
	return odb_open(odb, &d->t.repo, NULL, err);
}

/*
 * The callback options.objects may open the object database for a session. Then
 * the session uses this database, without options.provider, and logs the
 * callback's warning.
 */
static void test_own_objects(void **state)
{
	static const struct odb_provider provider = {.ctx = NULL};
	struct dialog d;
	struct session s;
	struct odb *odb;

	dialog_init(&d, HASH_SHA1);
	d.options.provider = &provider;
	assert_int_equal(open_session(&s, &d, NULL), 0);
	assert_int_equal(session_open_odb(&s, NULL), 0);
	assert_ptr_equal(s.odb->provider, &provider);
	session_release(&s);
	d.options.objects = own_objects;
	d.options.objects_ctx = &d;
	assert_int_equal(open_session(&s, &d, NULL), 0);
	assert_int_equal(serve_config_load_limit(&s.config, &d.t.repo, NULL),
			 0);
	assert_int_equal(session_has(&s, dialog_oid(&d, "c4"), NULL), 1);
	assert_int_equal(session_has(&s, dialog_oid(&d, "none"), NULL), 0);
	assert_int_equal(session_knows(&s, dialog_oid(&d, "lost"), NULL), 1);
	assert_string_equal(d.warnings.data, "own objects\n");
	assert_null(s.odb->provider);
	odb = s.odb;
	session_release(&s);
	odb_close(odb);
	dialog_release(&d);
}

/* A namespace that is not valid ends the session before any output. */
static void test_bad_namespace(void **state)
{
	struct error err = ERROR_INIT;
	struct dialog d;
	struct session s;

	dialog_init(&d, HASH_SHA1);
	d.options.namespace = "a..b";
	assert_true(open_session(&s, &d, &err) < 0);
	assert_false(s.refs_are_open);
	assert_true(err.code < 0);
	session_release(&s);
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opens_nothing),
		cmocka_unit_test(test_bad_configuration),
		cmocka_unit_test(test_peel),
		cmocka_unit_test(test_own_objects),
		cmocka_unit_test(test_bad_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
