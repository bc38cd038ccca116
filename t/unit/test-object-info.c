/* SPDX-License-Identifier: MIT */
/* serve/object-info.c: object-info sends sizes of objects. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_object_info),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
