/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/ere.c, which rewrites POSIX extended regular expressions for
 * PCRE2. The rewritten expression must match the same texts as regexec() of the
 * C library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <regex.h>
#include <string.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "t/unit/random.h"

/*
 * Asserts that PCRE2 and the C library both refuse the pattern, or both accept
 * it and match the same texts. Returns true if both accept the pattern.
 */
static bool agree(const char *pattern, const char *const *texts, size_t nr)
{
	struct pattern *ere;
	regex_t regex;
	int posix = regcomp(&regex, pattern, REG_EXTENDED);
	int ret = pattern_new(&ere, pattern, false, NULL);

	if ((posix == 0) != (ret == 0))
		fail_msg("'%s': %d, ours %d", pattern, posix, ret);
	if (posix)
		return false;
	for (size_t i = 0; i < nr; i++) {
		int expect = regexec(&regex, texts[i], 0, NULL, 0) == 0;

		if (pattern_match(ere, texts[i], strlen(texts[i]), NULL) !=
		    expect)
			fail_msg("'%s' of '%s': %d", pattern, texts[i], expect);
	}
	regfree(&regex);
	pattern_free(ere);
	return true;
}

static void known_patterns(void **state)
{
	static const char *const patterns[] = {
		"^refs/",
		"^refs/(heads|tags)/",
		"refs/[^/]+/([0-9]+)$",
		"a|b",
		"a{2}",
		"a{2,}",
		"a{,2}b",
		"a{1,3}?",
		"a**",
		"a*?b",
		"(ab)+?c",
		"[]a]",
		"[^]a]",
		"[\\d]",
		"[[:digit:]]+x",
		"[a[b]",
		"a\\.b",
		"\\d",
		"\\w+",
		"a)",
		"x]",
		"x}",
		"()",
		"(a)\\1",
		"\\<b",
		"b\\>",
		"a#b",
		"[a-c]$",
		"$a",
		".",
		"^^a",
		"a$b",
		/* invalid patterns */
		"(",
		"[",
		"[a",
		"*",
		"+a",
		"(*a)",
		"(?:a)",
		"a|*b",
		"^*",
		"a{2",
		"a{3,2}",
		"a{x}",
		"\\",
		"(a",
		"[[:nope:]]",
		"a{99999}",
		"[b-a]",
	};
	static const char *const texts[] = {
		"",
		"a",
		"b",
		"ab",
		"aa",
		"aab",
		"refs/heads/x",
		"refs/tags/",
		"xrefs/heads/",
		"refs/pull/12",
		"]",
		"\\",
		"d",
		"1x",
		"[",
		"a.b",
		"axb",
		"a)",
		"x]",
		"x}",
		"a#b",
		"ab c",
		"abc",
		"ababc",
		"a\nb",
		"$a",
		"^a",
		"a$b",
	};

	for (size_t i = 0; i < ARRAY_NR(patterns); i++)
		agree(patterns[i], texts, ARRAY_NR(texts));
}

static void random_patterns(void **state)
{
	static const char *const parts[] = {
		"a", "b", "c",     "(",     ")",    "|",    "*",
		"+", "?", "{2}",   "{1,2}", "[ab]", "[^a]", "^",
		"$", ".", "(a|b)", "\\.",   "(ab)",
	};
	static const char *const texts[] = {
		"",    "a",    "b",   "c", "aa",  "ab",  "ba",  "abc",
		"cab", "aabb", "ccc", ".", "a.b", "bb)", "acb",
	};
	uint64_t seed = random_seed();
	size_t valid = 0;

	for (int i = 0; i < 4000; i++) {
		char pattern[64] = "";

		for (uint64_t n = 1 + random_next(&seed) % 6; n > 0; n--)
			strcat(pattern,
			       parts[random_next(&seed) % ARRAY_NR(parts)]);
		valid += agree(pattern, texts, ARRAY_NR(texts));
	}
	assert_true(valid > 500);
}

static void places_of_errors(void **state)
{
	static const struct {
		const char *ere;
		size_t at;
	} wrong[] = {
		{"ab*(?:c)", 4}, {"a|+", 2},  {"(ab", 3},
		{"a{4,2}", 5},   {"ab\\", 2},
	};

	for (size_t i = 0; i < ARRAY_NR(wrong); i++) {
		struct buf out = BUF_INIT;
		size_t at = 0;

		assert_int_equal(buf_append_char(&out, 'x'), 0);
		assert_int_equal(ere_to_pcre(&out, wrong[i].ere, &at),
				 ERR_INVALID);
		assert_int_equal(at, wrong[i].at);
		assert_int_equal(out.len, 1);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_patterns),
		cmocka_unit_test(random_patterns),
		cmocka_unit_test(places_of_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
