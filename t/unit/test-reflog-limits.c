/* SPDX-License-Identifier: MIT */
/*
 * Tests of check/reflog-limits.c, which reads the limits for expiring reflogs
 * from the configuration: the right limits for each ref, and invalid values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check/reflog-expire.h"

#define NOW 2000000000
#define DAY (24 * 60 * 60)

static struct reflog_limits load(const char *text, const char *name)
{
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;
	struct reflog_limits limits;

	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, &err),
			 0);
	if (reflog_limits_load(&limits, &config, name, NOW, &err) < 0)
		fail_msg("%s", err.msg);
	config_release(&config);
	return limits;
}

static void limits_are(const char *text, const char *name, int64_t total,
		       int64_t unreachable)
{
	struct reflog_limits limits = load(text, name);

	assert_int_equal(limits.total, total);
	assert_int_equal(limits.unreachable, unreachable);
}

static void test_limits(void **state)
{
	static const char both[] = "[gc]\nreflogExpire = never\n"
				   "reflogExpireUnreachable = now\n";
	static const char some[] =
		"[gc \"refs/heads/*\"]\nreflogExpire = now\n"
		"[gc \"refs/heads/x\"]\nreflogExpireUnreachable = now\n"
		"[gc]\nreflogExpireUnreachable = now\n";

	limits_are("", "HEAD", NOW - 90 * DAY, NOW - 30 * DAY);
	limits_are("", "refs/stash", 0, 0);
	limits_are(both, "HEAD", 0, INT64_MAX);
	limits_are(both, "refs/stash", 0, 0);
	limits_are(some, "refs/heads/x", INT64_MAX, 0);
	limits_are(some, "HEAD", NOW - 90 * DAY, INT64_MAX);
	limits_are("[gc \"refs/*\"]\nreflogExpire = now\n", "refs/stash",
		   INT64_MAX, 0);
}

static void test_bad(void **state)
{
	static const char text[] = "[gc]\nreflogExpire = bogus\n";
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;
	struct reflog_limits limits;

	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, &err),
			 0);
	assert_int_equal(
		reflog_limits_load(&limits, &config, "HEAD", NOW, &err),
		ERR_INVALID);
	assert_string_equal(err.msg, "'bogus' for 'gc.reflogexpire' is not a "
				     "valid timestamp");
	config_release(&config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
