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

#include "t/unit/dialog.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_object_info),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_bundle_uri),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
