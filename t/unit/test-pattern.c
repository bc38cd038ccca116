/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/pattern.c, regular expressions: which names match, and what the
 * groups capture.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <regex.h>
#include <string.h>

#include "base/pattern.h"
#include "t/unit/random.h"

static const struct {
	const char *pattern, *name, *captured; /* NULL: no match */
} cases[] = {
	{"refs/heads/", "refs/heads/main", ""},
	{"refs/heads/", "refs/tags/v1", NULL},
	{"heads/", "refs/heads/main", NULL},
	{"refs/virtual/([0-9]+)/heads/", "refs/virtual/12/heads/a", "12"},
	{"refs/virtual/([0-9]+)/(pull)/", "refs/virtual/12/pull/3", "12-pull"},
	{"refs/(a)?(b)", "refs/b", "b"},
	{"refs/(a*)/(b)", "refs//b", "-b"},
	{"refs/[[:alpha:]]+$", "refs/main", ""},
	{"refs/[[:alpha:]]+$", "refs/main1", NULL},
};

static void names(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *name = cases[i].name;
		struct buf captured = BUF_INIT;
		struct pattern *p;
		int matched;

		assert_int_equal(pattern_new(&p, cases[i].pattern, true, NULL),
				 0);
		matched = pattern_match(p, name, strlen(name), NULL);
		assert_int_equal(matched, cases[i].captured != NULL);
		if (matched) {
			assert_int_equal(pattern_captures(&captured, p, name),
					 0);
			assert_string_equal(captured.data, cases[i].captured);
		}
		buf_release(&captured);
		pattern_free(p);
	}
}

static void anywhere(void **state)
{
	struct pattern *p;

	assert_int_equal(pattern_new(&p, "heads/(x)(y)", false, NULL), 0);
	assert_int_equal(pattern_match(p, "refs/heads/xy", 13, NULL), 1);
	assert_int_equal(pattern_match(p, "refs/heads/xy", 12, NULL), 0);
	pattern_free(p);
}

/* Random patterns must match the same names as regexec() of the C library. */
static void random_patterns(void **state)
{
	static const char *const pieces[] = {"a",   "b",    "[ab]", "a*",
					     "(a)", "(b+)", "(c)?", ".",
					     "$",   "[^a]"};
	uint64_t seed = random_seed();
	size_t matches = 0;

	for (int i = 0; i < 3000; i++) {
		char text[64] = "", name[8];
		size_t len = random_next(&seed) % sizeof(name);
		struct pattern *p;
		regex_t twin;

		for (uint64_t n = random_next(&seed) % 5; n; n--)
			strcat(text, pieces[random_next(&seed) % 10]);
		for (size_t k = 0; k < len; k++)
			name[k] = "abc"[random_next(&seed) % 3];
		name[len] = '\0';
		assert_int_equal(pattern_new(&p, text, false, NULL), 0);
		assert_int_equal(regcomp(&twin, text, REG_EXTENDED), 0);
		assert_int_equal(pattern_match(p, name, len, NULL),
				 !regexec(&twin, name, 0, NULL, 0));
		matches += !regexec(&twin, name, 0, NULL, 0);
		regfree(&twin);
		pattern_free(p);
	}
	assert_true(matches > 300);
}

static void bad_patterns(void **state)
{
	struct error err = ERROR_INIT;
	struct pattern *p;
	char name[40];

	assert_int_equal(pattern_new(&p, "refs/(", true, &err), ERR_INVALID);
	assert_null(p);
	assert_non_null(strstr(err.msg, "refs/("));
	/*
	 * This pattern takes exponential time. A limit of steps stops the
	 * search.
	 */
	memset(name, 'a', sizeof(name));
	assert_int_equal(pattern_new(&p, "(a|a|aa)*[bc]", true, NULL), 0);
	assert_int_equal(pattern_match(p, name, sizeof(name), &err),
			 ERR_INVALID);
	pattern_free(p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(anywhere),
		cmocka_unit_test(random_patterns),
		cmocka_unit_test(bad_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
