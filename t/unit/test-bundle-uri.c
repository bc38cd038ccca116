/* SPDX-License-Identifier: MIT */
/* serve/bundle-uri.c: bundle-uri lists the bundle.* keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/dialog.h"

static void test_list(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	assert_string_equal(dialog_answer(&d, "command=bundle-uri|D|F"),
			    "ERR invalid command 'bundle-uri'");
	dialog_config(&d, CONFIG_LOCAL,
		      "[uploadpack]\nadvertiseBundleURIs\n"
		      "[bundle]\nversion = 1\nflag\n"
		      "[bundle \"One\"]\nURI = https://example.com/b\n");
	assert_string_equal(dialog_answer(&d, "command=bundle-uri|D|F"),
			    "bundle.version=1|bundle.flag=|"
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
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
