/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/filter-policy.c, which reads from the configuration which
 * object filters clients may use. They prove that exactly these filters are
 * allowed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "serve/request.h"

/*
 * Check the policy of the configuration `text` for the filter `spec`. If
 * `message` is "", the filter must be allowed. Otherwise it must be refused
 * with this message.
 */
static void check(const char *text, const char *spec, const char *message)
{
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;
	struct filter filter;
	int ret;

	filter_init(&filter);
	assert_int_equal(filter_add(&filter, spec, NULL), 0);
	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, NULL),
			 0);
	ret = filter_policy_check(&config, &filter, &err);
	assert_string_equal(err.msg, message);
	assert_int_equal(ret, *message ? err.code : 0);
	config_release(&config);
	filter_release(&filter);
}

static void policies(void **state)
{
	static const char none[] = "[uploadpackfilter]\nallow = false\n";
	static const char depth[] = "[uploadpackfilter]\nallow = false\n"
				    "[uploadpackfilter \"tree\"]\n"
				    "maxDepth = 2\n";
	static const char forbidden[] = "[uploadpackfilter \"tree\"]\n"
					"maxDepth = 2\nallow = no\n";
	static const char kind[] = "[uploadpackfilter \"blob:none\"]\n"
				   "allow = false\n";

	check("", "combine:tree:7+blob:none", "");
	check(none, "blob:none", "filter 'blob:none' not supported");
	check(none, "object:type=tag", "filter 'object:type' not supported");
	check(depth, "tree:2", "");
	check(depth, "tree:3", "tree filter allows max depth 2, but got 3");
	check(depth, "blob:limit=1", "filter 'blob:limit' not supported");
	check(depth, "combine:tree:1", "filter 'combine' not supported");
	check(forbidden, "tree:1", "filter 'tree' not supported");
	check(kind, "blob:none", "filter 'blob:none' not supported");
	check(kind, "blob:limit=0", "");
	check(kind, "combine:tree:1+blob:none",
	      "filter 'blob:none' not supported");
}

static void bad_values(void **state)
{
	check("[uploadpackfilter]\nallow = perhaps\n", "blob:none",
	      "bad boolean config value 'perhaps' for "
	      "'uploadpackfilter.allow'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policies),
		cmocka_unit_test(bad_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
