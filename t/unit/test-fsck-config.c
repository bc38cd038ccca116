/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/fsck-config.[ch], the settings of fsck. They prove that
 * severities and skip lists are taken from the configuration, and that wrong
 * values are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "odb/fsck-config.h"

#define HEX "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

static int load(struct fsck_rules *rules, const char *text, const char *prefix,
		void (*warn)(void *ctx, const char *name), void *ctx,
		struct error *err)
{
	struct repo repo = {.algo = HASH_SHA1};
	int ret;

	assert_int_equal(config_parse(&repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	fsck_rules_init(rules, HASH_SHA1, false);
	ret = fsck_config_load(rules, &repo, prefix, warn, ctx, err);
	config_release(&repo.config);
	return ret;
}

static void warned(void *ctx, const char *name)
{
	strcat(ctx, name);
}

static void test_config(void **state)
{
	static const char text[] =
		"[fsck]\nmissingEmail = warn\nbadDate = ignore\n"
		"[receive \"fsck\"]\nbadTree = warn\nfoo = warn\n";
	struct error err = ERROR_INIT;
	struct fsck_rules rules;
	char names[64] = "";

	assert_int_equal(load(&rules, text, "fsck.", NULL, NULL, NULL), 0);
	assert_int_equal(rules.severity[FSCK_MISSING_EMAIL], FSCK_WARN);
	assert_int_equal(rules.severity[FSCK_BAD_DATE], FSCK_IGNORE);
	assert_int_equal(rules.severity[FSCK_BAD_TREE], FSCK_ERROR);
	fsck_rules_release(&rules);
	assert_int_equal(
		load(&rules, text, "receive.fsck.", warned, names, NULL), 0);
	assert_int_equal(rules.severity[FSCK_BAD_TREE], FSCK_WARN);
	assert_int_equal(rules.severity[FSCK_MISSING_EMAIL], FSCK_ERROR);
	assert_string_equal(names, "foo");
	fsck_rules_release(&rules);
	assert_int_equal(load(&rules, text, "receive.fsck.", NULL, NULL, &err),
			 ERR_INVALID);
	assert_string_equal(err.msg, "Unhandled message id: foo");
	fsck_rules_release(&rules);
	assert_int_equal(
		load(&rules, "[fsck]\nbadDate\n", "fsck.", NULL, NULL, &err),
		ERR_INVALID);
	assert_string_equal(err.msg, "missing value for 'fsck.baddate'");
	fsck_rules_release(&rules);
}

static void check_list(const char *list, const char *message)
{
	struct error err = ERROR_INIT;
	struct fsck_rules rules;
	int ret;

	fsck_rules_init(&rules, HASH_SHA1, false);
	ret = fsck_config_list(&rules, list, &err);
	assert_int_equal(ret < 0, message != NULL);
	assert_string_equal(err.msg, message ? message : "");
	if (!message)
		assert_int_equal(rules.severity[FSCK_MISSING_EMAIL], FSCK_WARN);
	fsck_rules_release(&rules);
}

static void test_list(void **state)
{
	check_list("missingEmail=warn", NULL);
	check_list("badDate=error,missingemail=warn|badTree=ignore ", NULL);
	check_list("missingEmail", "Missing '=': 'missingemail'");
	check_list("a=warn", "Unhandled message id: a");
	check_list("skiplist=/nonexistent/x",
		   "could not open object name list: /nonexistent/x");
}

static void check_skip(const char *text, size_t nr, const char *message)
{
	char path[] = "/tmp/test-fsck-config-XXXXXX";
	struct error err = ERROR_INIT;
	struct fsck_rules rules;
	struct oid oid;
	int fd = mkstemp(path);
	int ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	fsck_rules_init(&rules, HASH_SHA1, false);
	ret = fsck_config_skip_list(&rules, path, &err);
	unlink(path);
	assert_int_equal(ret, message ? ERR_INVALID : 0);
	assert_string_equal(err.msg, message ? message : "");
	assert_int_equal(rules.skip.nr, nr);
	oid_from_hex(&oid, HEX, 40, HASH_SHA1);
	assert_int_equal(fsck_is_skipped(&rules, &oid), nr > 0);
	fsck_rules_release(&rules);
}

static void test_skip_list(void **state)
{
	check_skip("", 0, NULL);
	check_skip("# a\n\n  " HEX " # b\r\n" HEX, 1, NULL);
	check_skip("xyz\n", 0, "invalid object name: xyz");
	check_skip(HEX "0\n", 0, "invalid object name: " HEX "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_skip_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
