/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/wildmatch.c: each rule of gitignore(5), and random patterns
 * compared with a slow matcher.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/wildmatch.h"
#include "t/unit/random.h"

#define PATH WILDMATCH_PATHNAME
#define ICASE WILDMATCH_ICASE
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct match_case {
	const char *pattern, *text;
	unsigned flags;
	bool matches;
};

static void check(const struct match_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct match_case *c = &cases[i];

		if (wildmatch(c->pattern, c->text, c->flags) != c->matches)
			fail_msg("'%s' and '%s' (%u)", c->pattern, c->text,
				 c->flags);
	}
}

static void single_characters(void **state)
{
	static const struct match_case cases[] = {
		{"", "", 0, true},           {"", "a", 0, false},
		{"a", "", 0, false},         {"abc", "abc", 0, true},
		{"abc", "abcd", 0, false},   {"abcd", "abc", 0, false},
		{"a?c", "abc", 0, true},     {"a?c", "a/c", 0, true},
		{"a?c", "a/c", PATH, false}, {"a\\?c", "a?c", 0, true},
		{"a\\?c", "abc", 0, false},  {"a\\\\", "a\\", 0, true},
		{"a\\", "a\\", 0, false},    {"a\\", "a", 0, false},
		{"ABC", "abc", 0, false},    {"ABC", "abc", ICASE, true},
		{"abc", "ABC", ICASE, true},
	};

	check(cases, COUNT(cases));
}

static void brackets(void **state)
{
	static const struct match_case cases[] = {
		{"[abc]", "b", 0, true},
		{"[abc]", "d", 0, false},
		{"[a-c]x", "bx", 0, true},
		{"[a-c]", "d", 0, false},
		{"[!a-c]", "d", 0, true},
		{"[^a-c]", "b", 0, false},
		{"[]a]", "]", 0, true},
		{"[!]a]", "]", 0, false},
		{"[a-]", "-", 0, true},
		{"[-a]", "-", 0, true},
		{"[\\]]", "]", 0, true},
		{"[a\\-c]", "b", 0, false},
		{"[a\\-c]", "-", 0, true},
		{"[[:digit:]]", "7", 0, true},
		{"[[:digit:]x]", "x", 0, true},
		{"[[:digit:]]", "x", 0, false},
		{"[![:alpha:]]", "x", 0, false},
		{"[[:nonsense:]]", "n", 0, false},
		{"[[:digit:]", "7", 0, false},
		{"[abc", "a", 0, false},
		{"[", "[", 0, false},
		{"a[/]b", "a/b", 0, true},
		{"a[/]b", "a/b", PATH, false},
		{"a[!x]b", "a/b", PATH, false},
		{"[A-C]", "b", ICASE, true},
		{"[a-c]", "B", ICASE, true},
		{"[[:upper:]]", "b", 0, false},
		{"[[:upper:]]", "b", ICASE, true},
		{"[[:xdigit:]][[:punct:]][[:space:]]", "f!\t", 0, true},
		{"[\x80-\xff]", "\xc3", 0, true},
	};

	check(cases, COUNT(cases));
}

static void asterisks(void **state)
{
	static const struct match_case cases[] = {
		{"*", "", 0, true},
		{"*", "a/b", 0, true},
		{"*", "a/b", PATH, false},
		{"a*c", "abbc", 0, true},
		{"a*c", "abcb", 0, false},
		{"*a*b*", "xaxbx", 0, true},
		{"*/b", "a/b", PATH, true},
		{"*/b", "a/a/b", PATH, false},
		{"a*/b", "ax/b", PATH, true},
		{"**", "a/b", PATH, true},
		{"**/b", "b", PATH, true},
		{"**/b", "a/a/b", PATH, true},
		{"**/b", "ab", PATH, false},
		{"a/**", "a/b/c", PATH, true},
		{"a/**", "a", PATH, false},
		{"a/**/b", "a/b", PATH, true},
		{"a/**/b", "a/x/y/b", PATH, true},
		{"a/**/b", "ab", PATH, false},
		{"a/***/b", "a/x/y/b", PATH, true},
		{"a**b", "axb", PATH, true},
		{"a**b", "a/b", PATH, false},
		{"a/**b", "a/x/b", PATH, false},
		{"a/**b", "a/xb", PATH, true},
		{"**/*a/b*", "x/ya/z/ya/bc", PATH, true},
		{"**/a/*/b", "a/x/a/y/b", PATH, true},
	};

	check(cases, COUNT(cases));
}

/* A simple recursive matcher would take exponential time for this pattern. */
static void takes_no_exponential_time(void **state)
{
	char pattern[201], text[5001];

	for (size_t i = 0; i < 200; i++)
		pattern[i] = i % 2 ? 'a' : '*';
	pattern[199] = 'b';
	pattern[200] = '\0';
	memset(text, 'a', 5000);
	text[5000] = '\0';
	assert_false(wildmatch(pattern, text, 0));
	assert_false(wildmatch(pattern, text, PATH));
}

/*
 * Returns whether the asterisks before `end` are a whole component of the
 * pattern, as in the pattern a/(two asterisks)/b.
 */
static bool twin_is_deep(const char *p, const char *start, const char *end)
{
	return end - p >= 2 && (p == start || p[-1] == '/') &&
	       (!*end || *end == '/');
}

/*
 * A slow matcher, which tries every length for every asterisk. Tests compare
 * the fast matcher with it. Brackets are not supported. `start`: start of the
 * pattern, of which `p` is the rest. Returns whether the rest matches `text`.
 */
static bool twin(const char *p, const char *start, const char *text)
{
	const char *end = p + strspn(p, "*");
	bool deep = twin_is_deep(p, start, end);

	if (!*p)
		return !*text;
	if (*p != '*') {
		if (!*text || (*p != '?' && *p != *text) ||
		    (*p == '?' && *text == '/'))
			return false;
		return twin(p + 1, start, text + 1);
	}
	if (deep && !*end)
		return true;
	if (!deep) {
		for (;; text++) {
			if (twin(end, start, text))
				return true;
			if (!*text || *text == '/')
				return false;
		}
	}
	for (;;) {
		if (twin(end + 1, start, text))
			return true;
		text = strchr(text, '/');
		if (!text)
			return false;
		text++;
	}
}

static void agrees_with_a_slow_twin(void **state)
{
	static const char letters[] = "ab/*?*/a";
	uint64_t seed = random_seed();
	size_t matched = 0;

	for (int i = 0; i < 60000; i++) {
		char pattern[10], text[10];
		size_t p_len = random_next(&seed) % sizeof(pattern);
		size_t t_len = random_next(&seed) % sizeof(text);
		bool expected;

		for (size_t k = 0; k < p_len; k++)
			pattern[k] = letters[random_next(&seed) % 8];
		for (size_t k = 0; k < t_len; k++)
			text[k] = letters[random_next(&seed) % 3];
		pattern[p_len] = text[t_len] = '\0';
		expected = twin(pattern, pattern, text);
		matched += expected;
		if (wildmatch(pattern, text, PATH) != expected)
			fail_msg("'%s' and '%s'", pattern, text);
	}
	assert_true(matched > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_characters),
		cmocka_unit_test(brackets),
		cmocka_unit_test(asterisks),
		cmocka_unit_test(takes_no_exponential_time),
		cmocka_unit_test(agrees_with_a_slow_twin),
	};

	return cmocka_run_group_tests_name("wildmatch", tests, NULL, NULL);
}
