/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/serve-config.c, the configuration of upload-pack: each key
 * sets its field, missing keys have the right defaults, and invalid values are
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/dialog.h"

#include "serve/serve-config.h"

static int load(struct serve_config *c, const struct dialog *d,
		struct error *err)
{
	struct error warning = ERROR_INIT;

	return serve_config_load(c, &d->t.repo, &warning, err);
}

/* Load a configuration with the section [uploadpack], which has `lines`. */
static void load_configured(struct serve_config *c, struct dialog *d,
			    const char *lines)
{
	char text[256];

	snprintf(text, sizeof(text), "[uploadpack]\n%s", lines);
	dialog_init(d, HASH_SHA1);
	dialog_config(d, CONFIG_LOCAL, text);
	assert_int_equal(load(c, d, NULL), 0);
}

static void test_defaults(void **state)
{
	struct dialog d;
	struct serve_config c;

	dialog_init(&d, HASH_SHA1);
	assert_int_equal(load(&c, &d, NULL), 0);
	assert_false(c.allow.tip || c.allow.reachable || c.allow.any ||
		     c.allow_ref_in_want || c.advertise_sid ||
		     c.advertise_object_info);
	assert_true(c.use_bitmaps);
	assert_int_equal(c.unborn, SERVE_UNBORN_ADVERTISE);
	assert_null(c.pack_objects_hook);
	serve_config_release(&c);
	dialog_release(&d);
}

/* Each key sets one flag of the struct, and no other flag. */
static void test_flags(void **state)
{
	static const struct {
		const char *config;
		size_t field;
	} cases[] = {
		{"[uploadpack]\nallowRefInWant\n",
		 offsetof(struct serve_config, allow_ref_in_want)},
		{"[uploadpack]\nallowFilter\n",
		 offsetof(struct serve_config, allow_filter)},
		{"[uploadpack]\nallowSidebandAll\n",
		 offsetof(struct serve_config, allow_sideband_all)},
		{"[uploadpack]\nadvertiseBundleURIs\n",
		 offsetof(struct serve_config, advertise_bundle_uris)},
		{"[transfer]\nadvertiseSID\n",
		 offsetof(struct serve_config, advertise_sid)},
		{"[transfer]\nadvertiseObjectInfo\n",
		 offsetof(struct serve_config, advertise_object_info)},
	};
	const size_t nr = sizeof(cases) / sizeof(cases[0]);

	for (size_t i = 0; i < nr; i++) {
		struct serve_config c;
		struct dialog d;

		dialog_init(&d, HASH_SHA1);
		dialog_config(&d, CONFIG_LOCAL, cases[i].config);
		assert_int_equal(load(&c, &d, NULL), 0);
		for (size_t k = 0; k < nr; k++)
			assert_int_equal(
				*((bool *)((char *)&c + cases[k].field)),
				k == i);
		serve_config_release(&c);
		dialog_release(&d);
	}
}

static void test_unborn(void **state)
{
	static const struct {
		const char *config;
		enum serve_unborn expect;
	} cases[] = {
		{"[lsrefs]\nunborn = advertise\n", SERVE_UNBORN_ADVERTISE},
		{"[lsrefs]\nunborn = allow\n", SERVE_UNBORN_ALLOW},
		{"[lsrefs]\nunborn = ignore\n", SERVE_UNBORN_IGNORE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct serve_config c;
		struct dialog d;

		dialog_init(&d, HASH_SHA1);
		dialog_config(&d, CONFIG_LOCAL, cases[i].config);
		assert_int_equal(load(&c, &d, NULL), 0);
		assert_int_equal(c.unborn, cases[i].expect);
		serve_config_release(&c);
		dialog_release(&d);
	}
}

/*
 * uploadpack.packObjectsHook is ignored in the repository's own configuration.
 */
static void test_hook_is_protected(void **state)
{
	struct dialog d;
	struct serve_config c;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_GLOBAL,
		      "[uploadpack]\npackObjectsHook = good\n");
	dialog_config(&d, CONFIG_LOCAL,
		      "[uploadpack]\npackObjectsHook = bad\n");
	assert_int_equal(load(&c, &d, NULL), 0);
	assert_string_equal(c.pack_objects_hook, "good");
	serve_config_release(&c);
	dialog_release(&d);
}

/*
 * allowAnySHA1InWant sets or clears the three flags tip, reachable and any. A
 * later entry overrides earlier ones.
 */
static void test_allow(void **state)
{
	static const struct {
		const char *config;
		/* Expected values of the flags tip, reachable and any. */
		const char *expect;
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
		struct serve_config c;

		load_configured(&c, &d, cases[i].config);
		snprintf(actual, sizeof(actual), "%d%d%d", c.allow.tip,
			 c.allow.reachable, c.allow.any);
		assert_string_equal(actual, cases[i].expect);
		serve_config_release(&c);
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
		struct serve_config c;

		load_configured(&c, &d, cases[i].config);
		assert_int_equal(c.keep_alive, cases[i].expect);
		serve_config_release(&c);
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
		struct serve_config c;

		dialog_init(&d, HASH_SHA1);
		dialog_config(&d, CONFIG_LOCAL, configs[i]);
		assert_int_equal(load(&c, &d, &err), ERR_INVALID);
		assert_true(*err.msg);
		serve_config_release(&c);
		dialog_release(&d);
	}
}

static void check_limit(const char *text, int ret, bool is_limit)
{
	struct error err = ERROR_INIT;
	struct serve_config c;
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_LOCAL, text);
	assert_int_equal(load(&c, &d, NULL), 0);
	assert_true(c.is_limit);
	assert_int_equal(serve_config_load_limit(&c, &d.t.repo, &err), ret);
	assert_int_equal(c.is_limit, is_limit);
	serve_config_release(&c);
	dialog_release(&d);
}

/*
 * gitreach.reachableOnly is off by default. Clients are limited if its value is
 * true or invalid.
 */
static void test_limit(void **state)
{
	check_limit("", 0, false);
	check_limit("[gitreach]\nreachableOnly\n", 0, true);
	check_limit("[gitreach]\nreachableOnly = no\n", 0, false);
	check_limit("[gitreach]\nreachableOnly = maybe\n", ERR_INVALID, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_unborn),
		cmocka_unit_test(test_hook_is_protected),
		cmocka_unit_test(test_allow),
		cmocka_unit_test(test_keep_alive),
		cmocka_unit_test(test_bad_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
