/* SPDX-License-Identifier: MIT */
/* object/refs-name.c: the rules of git-check-ref-format(1), one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "object/refs-name.h"

static void test_valid(void **state)
{
	static const char *const good[] = {
		"refs/heads/main", "a/b",        "refs/heads/@",
		"refs/@/x",        "refs/a@b",   "refs/heads/a.lockx",
		"refs/heads/-x",   "refs/a.b/c", "refs/heads/\xc3\xa4",
		"refs/heads/{x}",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(refs_name_is_valid(good[i]));
}

static void test_invalid(void **state)
{
	static const char *const bad[] = {
		"",
		"main",
		"/a/b",
		"a/b/",
		"a//b",
		"a/.b",
		".a/b",
		"a/b.lock",
		"a.lock/b",
		"a/b..c",
		"a/b.",
		"a/b@{c",
		"a/b c",
		"a/b~c",
		"a/b^c",
		"a/b:c",
		"a/b?c",
		"a/b*c",
		"a/b[c",
		"a/b\\c",
		"a/b\x7f"
		"c",
		"a/b\tc",
		"@",
		"a/../b",
		".",
		"a/b/.lock",
		"a/..",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(refs_name_is_valid(bad[i]));
}

static void test_len(void **state)
{
	assert_true(refs_name_is_valid_len("HEAD", 4, true));
	assert_false(refs_name_is_valid_len("HEAD", 4, false));
	assert_false(refs_name_is_valid_len("@", 1, true));
	assert_false(refs_name_is_valid_len("", 0, true));
	assert_true(refs_name_is_valid_len("a/b\0c", 3, false));
	assert_false(refs_name_is_valid_len("a/b\0c", 5, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_len),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
