/* SPDX-License-Identifier: MIT */
/* Tests of object/refs-name.c: each rule of git-check-ref-format(1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "object/refs-name.h"
#include "random.h"

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

/*
 * Checks a component of a ref name slowly: one rule after the other, in the
 * order of git-check-ref-format(1).
 */
static bool twin_component(const char *s, size_t len)
{
	return len && s[0] != '.' &&
	       (len < 5 || memcmp(s + len - 5, ".lock", 5) != 0);
}

static bool twin(const char *s, size_t len)
{
	size_t start = 0;

	for (size_t i = 0; i < len; i++)
		if ((uint8_t)s[i] <= ' ' || strchr("\x7f~^:?*[\\", s[i]))
			return false;
	if (!len || s[len - 1] == '.' || memmem(s, len, "..", 2) ||
	    memmem(s, len, "@{", 2) || !memchr(s, '/', len))
		return false;
	for (size_t i = 0; i <= len; i++) {
		if (i < len && s[i] != '/')
			continue;
		if (!twin_component(s + start, i - start))
			return false;
		start = i + 1;
	}
	return true;
}

/*
 * Makes random names with one or two special bytes. The fast check works on
 * chunks of 16 bytes. So the test puts special bytes at each position of a
 * chunk.
 */
static void test_random(void **state)
{
	static const char some[] = "/..l@{~^:?*[\\] \x7f}|;<\x1f\xff/a";
	uint64_t seed = random_seed();
	size_t good = 0;

	for (int round = 0; round < 200000; round++) {
		size_t len = 1 + random_next(&seed) % 50;
		char name[64];

		for (size_t i = 0; i < len; i++)
			name[i] = (char)(i % 7 == 4 ? '/' : 'a' + i % 26);
		for (size_t n = random_next(&seed) % 3; n; n--)
			name[random_next(&seed) % len] =
				some[random_next(&seed) % (sizeof(some) - 1)];
		if (len > 10 && random_next(&seed) % 4 == 0)
			memcpy(name + random_next(&seed) % (len - 5), ".lock",
			       5);
		assert_int_equal(refs_name_is_valid_len(name, len, false),
				 twin(name, len));
		good += twin(name, len);
	}
	assert_in_range(good, 20000, 180000);
}

static void test_roots(void **state)
{
	static const char *const roots[] = {
		"HEAD",     "ORIG_HEAD",  "_HEAD",
		"A-B_HEAD", "AUTO_MERGE", "BISECT_EXPECTED_REV",
	};
	static const char *const others[] = {
		"",      "X",        "FETCH_HEAD", "MERGE_HEAD", "a_HEAD",
		"HEAD_", "FOO-HEAD", "A1_HEAD",    "refs/HEAD",  "STASH_HEADS",
	};

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		assert_true(refs_name_is_root(roots[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(refs_name_is_root(others[i]));
	assert_true(refs_name_is_head("HEAD"));
	assert_true(refs_name_is_head("worktrees/a/HEAD"));
	assert_true(refs_name_is_head("main-worktree/HEAD"));
	assert_false(refs_name_is_head("refs/remotes/a/HEAD"));
	assert_false(refs_name_is_head("ORIG_HEAD"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid), cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_len),   cmocka_unit_test(test_random),
		cmocka_unit_test(test_roots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
