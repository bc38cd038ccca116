/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/recent-hook.c, which runs the commands of
 * gc.recentObjectsHook: the ids in their output are visited, and a failed
 * command is an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "repack/unreachable.h"

static int take(void *ctx, const struct oid *oid)
{
	unsigned *sum = ctx;

	*sum += oid->bytes[19];
	return oid->bytes[0];
}

static int run(const char *config, unsigned *sum)
{
	struct repo repo = {.config = CONFIG_INIT, .algo = HASH_SHA1};
	struct error err = ERROR_INIT;
	int ret;

	*sum = 0;
	assert_int_equal(config_parse(&repo.config, config, strlen(config),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	ret = recent_hook_each(&repo, take, sum, &err);
	if (ret < 0)
		assert_int_equal(err.code, ret);
	config_release(&repo.config);
	return ret;
}

#define ID(n) "00000000000000000000000000000000000000" n

static const char two_hooks[] =
	"[gc]\n"
	"recentObjectsHook = echo " ID(
		"03") "\n"
		      "recentObjectsHook = \"echo " ID("04") "; echo " ID(
			      "05") "\"\n";

static void hooks(void **state)
{
	unsigned sum;

	assert_int_equal(run("", &sum), 0);
	assert_int_equal(sum, 0);
	assert_int_equal(run("[gc]\nrecentObjectsHook = true\n", &sum), 0);
	assert_int_equal(sum, 0);
	assert_int_equal(run(two_hooks, &sum), 0);
	assert_int_equal(sum, 12);
	/* The last line of the output may lack its line feed. */
	assert_int_equal(
		run("[gc]\nrecentObjectsHook = printf " ID("06") "\n", &sum),
		0);
	assert_int_equal(sum, 6);
	/*
	 * If the callback returns a value other than 0, it is not called again.
	 */
	assert_int_equal(run("[gc]\nrecentObjectsHook = echo "
			     "07000000000000000000000000000000000000ff\n"
			     "recentObjectsHook = echo " ID("01") "\n",
			     &sum),
			 7);
	assert_int_equal(sum, 255);
}

static void failures(void **state)
{
	static const char *const commands[] = {
		"false",
		"echo " ID("03") "; exit 3",
		"echo rubbish",
		"echo " ID("0"),
		"echo " ID("033"),
		"echo",
		"no-such-command-x",
	};
	unsigned sum;

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		char config[200];

		snprintf(config, sizeof(config),
			 "[gc]\nrecentObjectsHook = \"%s\"\n", commands[i]);
		assert_int_equal(run(config, &sum), ERR_INVALID);
	}
	assert_int_equal(run("[gc]\nrecentObjectsHook\n", &sum), ERR_INVALID);
}

/*
 * The error message has the first 200 bytes of a wrong line that the hook has
 * printed.
 */
static void messages(void **state)
{
	static const char *const commands[] = {
		"echo rubbish", "printf %0201d 0", "printf %0199d 0"};
	static const int lens[] = {0, 200, 199};

	for (int i = 0; i < 3; i++) {
		struct repo repo = {.config = CONFIG_INIT, .algo = HASH_SHA1};
		struct error err = ERROR_INIT;
		char config[200], expect[300];
		unsigned sum = 0;

		snprintf(config, sizeof(config),
			 "[gc]\nrecentObjectsHook = \"%s\"\n", commands[i]);
		assert_int_equal(config_parse(&repo.config, config,
					      strlen(config), CONFIG_LOCAL,
					      NULL, NULL, NULL),
				 0);
		assert_int_equal(recent_hook_each(&repo, take, &sum, &err),
				 ERR_INVALID);
		if (lens[i])
			snprintf(expect, sizeof(expect),
				 "invalid extra cruft tip: '%0*d'", lens[i], 0);
		else
			snprintf(expect, sizeof(expect),
				 "invalid extra cruft tip: 'rubbish'");
		assert_string_equal(err.msg, expect);
		config_release(&repo.config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hooks),
		cmocka_unit_test(failures),
		cmocka_unit_test(messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
