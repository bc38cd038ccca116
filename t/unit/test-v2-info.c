/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/v2-info.c, two commands of protocol v2: object-info sends the
 * sizes of objects, and bundle-uri lists the keys bundle.*.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "publish/bundle-list.h"
#include "publish/published.h"
#include "t/unit/dialog.h"
#include "wire/refview.h"

static const char *ask(struct dialog *d, const char *args)
{
	char script[512];

	snprintf(script, sizeof(script), "command=object-info|D|%s%sF", args,
		 *args ? "|" : "");
	return dialog_answer(d, script);
}

static void test_object_info(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	dialog_config(&d, CONFIG_LOCAL, "[transfer]\nadvertiseObjectInfo\n");
	dialog_object(&d, "blob", OBJ_BLOB, "12345");
	assert_string_equal(ask(&d, "size|oid blob|oid none|oid t"),
			    "size|blob 5|none |t 0|F");
	assert_string_equal(ask(&d, "oid blob|oid none"), "blob|none|F");
	assert_string_equal(ask(&d, "oid blob|size|oid t|oid blob"),
			    "size|blob 5|t 0|blob 5|F");
	assert_string_equal(ask(&d, "size"), "F");
	assert_string_equal(ask(&d, ""), "F");
	assert_int_equal(d.ret, 0);
	dialog_release(&d);
}

static void test_errors(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	dialog_config(&d, CONFIG_LOCAL, "[transfer]\nadvertiseObjectInfo\n");
	assert_string_equal(ask(&d, "oid zz"),
			    "ERR object-info: protocol error, expected to get "
			    "oid, not 'zz'");
	assert_string_equal(ask(&d, "bogus"),
			    "ERR object-info: unexpected line: 'bogus'");
	assert_int_equal(d.ret, ERR_PEER);
	dialog_release(&d);
}

static void test_bundle_uri(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	assert_string_equal(dialog_answer(&d, "command=bundle-uri|D|F"),
			    "ERR invalid command 'bundle-uri'");
	dialog_config(&d, CONFIG_LOCAL,
		      "[uploadpack]\nadvertiseBundleURIs\n"
		      "[bundle]\nversion = 1\nflag\nmode =\n"
		      "[bundle \"One\"]\nURI = https://example.com/b\n");
	assert_string_equal(dialog_answer(&d, "command=bundle-uri|D|F"),
			    "bundle.version=1|"
			    "bundle.One.uri=https://example.com/b|F");
	assert_int_equal(d.ret, 0);
	assert_string_equal(dialog_answer(&d, "command=bundle-uri|D|more|F"),
			    "ERR bundle-uri: unexpected argument: 'more'");
	assert_int_equal(d.ret, ERR_PEER);
	dialog_release(&d);
}

/*
 * Writes an empty bundle, and a list of this bundle. The list says that the
 * bundle was made without hide rules. Appends the expected lines of the
 * response to *answer.
 */
static void publish_bundle(struct dialog *d, struct buf *answer)
{
	struct bundle_list list = {.algo = HASH_SHA1, .nr = 1};
	const struct refview_rules none = {.rules = NULL};
	struct published_config config;
	struct buf text = BUF_INIT, name = BUF_INIT;
	char *place;

	tmprepo_write(&d->t, "objects/" PUBLISHED_SALT,
		      "0123456789abcdef0123456789abcdef\n");
	assert_int_equal(published_config_load(&config, &d->t.repo, NULL), 0);
	place = published_place(&config, d->t.objects, NULL);
	assert_non_null(place);
	published_config_release(&config);
	memset(list.items[0].hash.bytes, 0xaa, 20);
	list.items[0].token = 7;
	assert_int_equal(refview_rules_id(&list.rules, &none), 0);
	assert_int_equal(bundle_list_format(&text, &list), 0);
	buf_printf(&name, "public/%s/" BUNDLE_LIST_FILE,
		   strrchr(place, '/') + 1);
	tmprepo_write_len(&d->t, name.data, text.data, text.len);
	buf_reset(&name);
	buf_printf(&name, "public/%s/%040d.bundle", strrchr(place, '/') + 1, 0);
	for (char *p = strrchr(name.data, '/') + 1; *p == '0'; p++)
		*p = 'a';
	tmprepo_write(&d->t, name.data, "");
	buf_printf(answer,
		   "bundle.version=1|bundle.mode=all|"
		   "bundle.heuristic=creationToken|"
		   "bundle.7.uri=https://example.com/x%s|"
		   "bundle.7.creationtoken=7|F",
		   name.data + strlen("public"));
	buf_release(&text);
	buf_release(&name);
	free(place);
}

/*
 * Published bundles are listed only for clients that see all refs for which the
 * bundles were made, and only if their files exist.
 */
static void test_published(void **state)
{
	static const char none[] = "F";
	struct buf config = BUF_INIT, answer = BUF_INIT;
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	buf_printf(&config,
		   "[uploadpack]\nadvertiseBundleURIs\n[gitreach]\n"
		   "publishDirectory = %s/public\npublishBundles\n"
		   "publishUri = https://example.com/x/\n",
		   d.t.dir);
	dialog_config(&d, CONFIG_LOCAL, config.data);
	assert_string_equal(dialog_answer(&d, "command=bundle-uri|D|F"), none);
	assert_int_equal(d.ret, 0);
	publish_bundle(&d, &answer);
	assert_string_equal(dialog_answer(&d, "command=bundle-uri|D|F"),
			    answer.data);
	assert_int_equal(d.warnings.len, 0);
	d.options.namespace = "ns";
	assert_string_equal(dialog_answer(&d, "command=bundle-uri|D|F"), none);
	d.options.namespace = NULL;
	dialog_config(&d, CONFIG_LOCAL, "[transfer]\nhideRefs = refs/hidden\n");
	assert_string_equal(dialog_answer(&d, "command=bundle-uri|D|F"), none);
	assert_int_equal(d.ret, 0);
	buf_release(&config);
	buf_release(&answer);
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_object_info),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_bundle_uri),
		cmocka_unit_test(test_published),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
