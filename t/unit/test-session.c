/* SPDX-License-Identifier: MIT */
/* What a connection reads from the configuration, and opens. */
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

/* With these lines of section uploadpack. */
static void open_configured(struct session *s, struct dialog *d,
			    const char *lines)
{
	char text[256];

	snprintf(text, sizeof(text), "[uploadpack]\n%s", lines);
	dialog_init(d, HASH_SHA1);
	dialog_config(d, CONFIG_LOCAL, text);
	assert_int_equal(open_session(s, d, NULL), 0);
}

static void test_defaults(void **state)
{
	struct dialog d;
	struct session s;

	dialog_init(&d, HASH_SHA1);
	assert_int_equal(open_session(&s, &d, NULL), 0);
	assert_false(s.config.allow_tip || s.config.allow_reachable ||
		     s.config.allow_any || s.config.allow_ref_in_want ||
		     s.config.advertise_sid || s.config.advertise_object_info);
	assert_true(s.config.use_bitmaps);
	assert_int_equal(s.config.unborn, SESSION_UNBORN_ADVERTISE);
	assert_null(s.config.pack_objects_hook);
	assert_null(s.odb);
	session_release(&s);
	dialog_release(&d);
}

/* A repository does not tell its server which programs to run. */
static void test_hook_is_protected(void **state)
{
	struct dialog d;
	struct session s;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_GLOBAL,
		      "[uploadpack]\npackObjectsHook = good\n");
	dialog_config(&d, CONFIG_LOCAL,
		      "[uploadpack]\npackObjectsHook = bad\n");
	assert_int_equal(open_session(&s, &d, NULL), 0);
	assert_string_equal(s.config.pack_objects_hook, "good");
	session_release(&s);
	dialog_release(&d);
}

/* allowAnySHA1InWant speaks for the other two; the later entry wins. */
static void test_allow(void **state)
{
	static const struct {
		const char *config;
		const char *expect; /* tip, reachable, any */
	} cases[] = {
		{"allowTipSHA1InWant\n", "100"},
		{"allowReachableSHA1InWant\n", "010"},
		{"allowAnySHA1InWant\n", "111"},
		{"allowTipSHA1InWant\nallowAnySHA1InWant = false\n", "000"},
		{"allowAnySHA1InWant = false\nallowTipSHA1InWant\n", "100"},
		{"allowAnySHA1InWant\nallowTipSHA1InWant = false\n", "010"},
		{"allowAnySHA1InWant\nallowReachableSHA1InWant = false\n",
		 "100"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char actual[4];
		struct dialog d;
		struct session s;

		open_configured(&s, &d, cases[i].config);
		snprintf(actual, sizeof(actual), "%d%d%d", s.config.allow_tip,
			 s.config.allow_reachable, s.config.allow_any);
		assert_string_equal(actual, cases[i].expect);
		session_release(&s);
		dialog_release(&d);
	}
}

static void test_keep_alive(void **state)
{
	static const struct {
		const char *config;
		uint64_t expect;
	} cases[] = {
		{"", 5},
		{"keepAlive = 0\n", 0},
		{"keepAlive = -1\n", 0},
		{"keepAlive = 1k\n", 1024},
		{"keepAlive = 2147483647\n", 4294967},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dialog d;
		struct session s;

		open_configured(&s, &d, cases[i].config);
		assert_int_equal(s.config.keep_alive, cases[i].expect);
		session_release(&s);
		dialog_release(&d);
	}
}

static void test_bad_values(void **state)
{
	static const char *const configs[] = {
		"[uploadpack]\nallowAnySHA1InWant = perhaps\n",
		"[uploadpack]\nkeepAlive = 99999999999999\n",
		"[lsrefs]\nunborn = sometimes\n",
	};

	for (size_t i = 0; i < 3; i++) {
		struct error err = ERROR_INIT;
		struct dialog d;
		struct session s;

		dialog_init(&d, HASH_SHA1);
		dialog_config(&d, CONFIG_LOCAL, configs[i]);
		assert_int_equal(open_session(&s, &d, &err), ERR_INVALID);
		assert_true(*err.msg);
		session_release(&s);
		dialog_release(&d);
	}
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
	/* What packed-refs knows is not looked up. */
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
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_hook_is_protected),
		cmocka_unit_test(test_allow),
		cmocka_unit_test(test_keep_alive),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_peel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
