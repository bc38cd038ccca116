/* SPDX-License-Identifier: MIT */
/*
 * Tests of names/pathspec.c: a pathspec takes the same paths as in stock Git.
 * Its results for directories must agree with its results for paths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "names/pathspec.h"
#include "t/unit/random.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct pathspec_place in_docs = {
	.prefix = "docs/",
	.worktree = "/w",
	.name = "/w",
};

static void parse_at(struct pathspec *ps, const struct pathspec_place *place,
		     const char *a, const char *b)
{
	const char *patterns[] = {a, b};
	struct error err = ERROR_INIT;

	if (pathspec_parse(ps, patterns, b ? 2 : 1, place, &err) < 0)
		fail_msg("%s", err.msg);
}

static bool takes(const struct pathspec *ps, const char *path)
{
	return pathspec_takes(ps, path, strlen(path), false);
}

static enum pathspec_below below(const struct pathspec *ps, const char *dir)
{
	return pathspec_below(ps, dir, strlen(dir));
}

/* ---- as stock Git has it */

static void paths_taken(void **state)
{
	static const struct {
		const char *a, *b, *path;
		bool is_taken;
	} cases[] = {
		{"x", NULL, "docs/x", true},
		{"x", NULL, "docs/x/y", true},
		{"x", NULL, "docs/xy", false},
		{"x/", NULL, "docs/x", false},
		{"x/", NULL, "docs/x/y", true},
		{".", NULL, "docs/x", true},
		{".", NULL, "t/x", false},
		{"..", NULL, "t/x", true},
		{"../t/./../t//x", NULL, "t/x", true},
		{"/w/t", NULL, "t/x", true},
		{"/w", NULL, "t/x", true},
		{":/t", NULL, "t/x", true},
		{":(top)t", NULL, "t/x", true},
		{":(,top,)t", NULL, "t/x", true},
		{":/", NULL, "t/x", true},
		{":", NULL, "t/x", false},
		{":", NULL, "docs/x", true},
		{"*.c", NULL, "docs/a/x.c", true},
		{"*.c", NULL, "t/x.c", false},
		{":(glob)*.c", NULL, "docs/x.c", true},
		{":(glob)*.c", NULL, "docs/a/x.c", false},
		{":(glob)**/x.c", NULL, "docs/a/x.c", true},
		{":(glob)**/x.c", NULL, "docs/x.c", true},
		{":/a?c", NULL, "a/c", true},
		{":(top,glob)a?c", NULL, "a/c", false},
		{":/a*b", NULL, "a*b/c", true},
		{":/a\\*b", NULL, "a*b", true},
		{":/a\\*b", NULL, "axb", false},
		{":(top,literal)a*b", NULL, "a*b", true},
		{":(top,literal)a*b", NULL, "axb", false},
		{":(icase)X.C", NULL, "docs/x.c", true},
		{":(icase)X.C", NULL, "Docs/x.c", false},
		{":(icase)../DOCS/x.c", NULL, "docs/x.c", true},
		{":(icase,top)D*/X", NULL, "docs/x", true},
		{":!x", NULL, "docs/x", false},
		{":!x", NULL, "docs/xy", true},
		{":!x", NULL, "t/x", true},
		{":^x", ".", "docs/x/y", false},
		{":(exclude)*.h", ".", "docs/x.h", false},
		{":(exclude)*.h", ".", "docs/x.c", true},
		{":/!docs", NULL, "docs/x", false},
		{":::x", "t", "docs/t", true},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct pathspec ps;

		parse_at(&ps, &in_docs, cases[i].a, cases[i].b);
		if (takes(&ps, cases[i].path) != cases[i].is_taken)
			fail_msg("'%s' and '%s'", cases[i].a, cases[i].path);
		pathspec_release(&ps);
	}
}

static void submodules(void **state)
{
	struct pathspec ps;

	parse_at(&ps, &in_docs, "sub/", NULL);
	assert_true(pathspec_takes(&ps, "docs/sub", 8, true));
	assert_false(pathspec_takes(&ps, "docs/sub", 8, false));
	pathspec_release(&ps);
	parse_at(&ps, &in_docs, "sub/x", NULL);
	assert_false(pathspec_takes(&ps, "docs/sub", 8, true));
	pathspec_release(&ps);
}

static void refused(void **state)
{
	static const struct {
		const char *pattern;
		int code;
		const char *msg;
	} cases[] = {
		{"", ERR_INVALID,
		 "empty string is not a valid pathspec; '.' matches all paths"},
		{":(foo)x", ERR_INVALID,
		 "Invalid pathspec magic 'foo' in ':(foo)x'"},
		{":%x", ERR_INVALID,
		 "Unimplemented pathspec magic '%' in ':%x'"},
		{":(top", ERR_INVALID,
		 "Missing ')' at the end of pathspec magic in ':(top'"},
		{":(literal,glob)x", ERR_INVALID,
		 ":(literal,glob)x: 'literal' and 'glob' are incompatible"},
		{"../../x", ERR_INVALID,
		 "../../x: '../../x' is outside repository at '/w'"},
		{"/v/x", ERR_INVALID,
		 "/v/x: '/v/x' is outside repository at '/w'"},
		{"/wx", ERR_INVALID,
		 "/wx: '/wx' is outside repository at '/w'"},
		{":(top,attr:a b)x", ERR_UNSUPPORTED,
		 "pathspec magic 'attr:a b' is not supported yet"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *patterns[] = {"ok", cases[i].pattern};
		struct error err = ERROR_INIT;
		struct pathspec ps;

		assert_int_equal(
			pathspec_parse(&ps, patterns, 2, &in_docs, &err),
			cases[i].code);
		assert_string_equal(err.msg, cases[i].msg);
		assert_null(ps.items);
	}
}

static void empty_before_other_errors(void **state)
{
	const char *patterns[] = {":(foo)x", "../../x", ""};
	struct error err = ERROR_INIT;
	struct pathspec ps;

	assert_int_equal(pathspec_parse(&ps, patterns, 3, &in_docs, &err),
			 ERR_INVALID);
	assert_string_equal(err.msg, "empty string is not a valid pathspec; "
				     "'.' matches all paths");
	assert_null(ps.items);
}

static void environment(void **state)
{
	static const struct {
		const char *name;
		bool glob, literal, icase;
	} cases[] = {
		{"GIT_GLOB_PATHSPECS", true, false, false},
		{"GIT_NOGLOB_PATHSPECS", false, true, false},
		{"GIT_LITERAL_PATHSPECS", false, true, false},
		{"GIT_ICASE_PATHSPECS", false, false, true},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct pathspec_place place = {.name = "/w"};
		struct pathspec ps;

		setenv(cases[i].name, "true", 1);
		assert_int_equal(pathspec_place_env(&place, NULL), 0);
		unsetenv(cases[i].name);
		parse_at(&ps, &place, "a*", NULL);
		assert_int_equal(takes(&ps, "a/b"),
				 !cases[i].glob && !cases[i].literal);
		assert_int_equal(takes(&ps, "ab"), !cases[i].literal);
		assert_int_equal(takes(&ps, "Ab"), cases[i].icase);
		assert_true(takes(&ps, "a*/b"));
		pathspec_release(&ps);
	}
	setenv("GIT_GLOB_PATHSPECS", "1", 1);
	setenv("GIT_NOGLOB_PATHSPECS", "1", 1);
	assert_int_equal(pathspec_place_env(&(struct pathspec_place){0}, NULL),
			 ERR_INVALID);
	setenv("GIT_LITERAL_PATHSPECS", "1", 1);
	unsetenv("GIT_GLOB_PATHSPECS");
	assert_int_equal(pathspec_place_env(&(struct pathspec_place){0}, NULL),
			 ERR_INVALID);
	unsetenv("GIT_NOGLOB_PATHSPECS");
	unsetenv("GIT_LITERAL_PATHSPECS");
}

static void nothing_said(void **state)
{
	struct pathspec ps;

	assert_int_equal(pathspec_parse(&ps, NULL, 0, &in_docs, NULL), 0);
	assert_false(takes(&ps, "docs/x"));
	assert_int_equal(below(&ps, ""), PATHSPEC_NOTHING);
	pathspec_release(&ps);
}

/* ---- directories */

static void directories(void **state)
{
	static const struct {
		const char *a, *b, *dir;
		enum pathspec_below below;
		bool is_listed;
	} cases[] = {
		{"t/x", NULL, "", PATHSPEC_PART, true},
		{"t/x", NULL, "t", PATHSPEC_PART, true},
		{"t/x", NULL, "tt", PATHSPEC_NOTHING, false},
		{"t/x", NULL, "t/x", PATHSPEC_ALL, true},
		{"t/x", NULL, "t/x/y", PATHSPEC_ALL, true},
		{"t/", NULL, "t", PATHSPEC_ALL, true},
		{"*.c", NULL, "t", PATHSPEC_PART, false},
		{"t*.c", NULL, "t", PATHSPEC_PART, false},
		{"ta*.c", NULL, "t", PATHSPEC_NOTHING, false},
		{"t*", NULL, "tt/u", PATHSPEC_ALL, true},
		{":(glob)t*", NULL, "tt", PATHSPEC_PART, true},
		{"t/a*", NULL, "t/b", PATHSPEC_NOTHING, false},
		{":!t", NULL, "t", PATHSPEC_NOTHING, true},
		{":!t", NULL, "t/u", PATHSPEC_NOTHING, false},
		{":!t/u", NULL, "t", PATHSPEC_PART, true},
		{":!t", NULL, "u", PATHSPEC_ALL, true},
		{":!t/*.c", "t", "t", PATHSPEC_PART, true},
		{".", NULL, "", PATHSPEC_ALL, true},
		{":!*.c", NULL, "", PATHSPEC_PART, true},
	};
	const struct pathspec_place top = {.name = "/w"};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct pathspec ps;
		size_t len = strlen(cases[i].dir);

		parse_at(&ps, &top, cases[i].a, cases[i].b);
		if (below(&ps, cases[i].dir) != cases[i].below ||
		    pathspec_lists(&ps, cases[i].dir, len) !=
			    cases[i].is_listed)
			fail_msg("'%s' and '%s'", cases[i].a, cases[i].dir);
		pathspec_release(&ps);
	}
}

static size_t pick(uint64_t *seed, size_t nr)
{
	return (size_t)(random_next(seed) % nr);
}

static void random_text(uint64_t *seed, char *out, size_t max,
			const char *letters)
{
	size_t len = 1 + pick(seed, max);

	for (size_t i = 0; i < len; i++)
		out[i] = letters[pick(seed, strlen(letters))];
	out[len] = '\0';
}

static void random_pattern(uint64_t *seed, char *out)
{
	static const char *const magic[] = {
		"",        "",         "",           ":!",
		":(glob)", ":(icase)", ":(literal)", ":(exclude,glob)",
	};
	char text[16];

	do
		random_text(seed, text, 8, "abAb//*?");
	while (*text == '/');
	sprintf(out, "%s%s", magic[pick(seed, COUNT(magic))], text);
}

static void random_path(uint64_t *seed, char *out)
{
	static const char *const names[] = {"a", "b", "ab", "ba", "A", "a*b"};
	unsigned nr = 1 + pick(seed, 4);

	*out = '\0';
	for (unsigned i = 0; i < nr; i++) {
		strcat(out, i ? "/" : "");
		strcat(out, names[pick(seed, COUNT(names))]);
	}
}

/*
 * The result of a pathspec for a directory (all, part or none) must agree with
 * the results for all paths below the directory.
 */
static void directories_agree(void **state)
{
	const struct pathspec_place top = {.name = "/w"};
	uint64_t numbers = random_seed(), *seed = &numbers;

	for (int round = 0; round < 20000; round++) {
		char a[32], b[32], path[64];
		struct pathspec ps;
		size_t len;

		random_pattern(seed, a);
		random_pattern(seed, b);
		random_path(seed, path);
		parse_at(&ps, &top, a, pick(seed, 2) ? b : NULL);
		len = strlen(path);
		for (size_t i = 0; i < len; i++) {
			enum pathspec_below said;
			char dir[64];

			if (i && path[i] != '/')
				continue;
			memcpy(dir, path, i);
			dir[i] = '\0';
			said = below(&ps, dir);
			if (takes(&ps, path) ? said == PATHSPEC_NOTHING
					     : said == PATHSPEC_ALL)
				fail_msg("'%s' '%s': '%s' in '%s'", a, b, path,
					 dir);
		}
		pathspec_release(&ps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_taken),
		cmocka_unit_test(submodules),
		cmocka_unit_test(refused),
		cmocka_unit_test(empty_before_other_errors),
		cmocka_unit_test(environment),
		cmocka_unit_test(nothing_said),
		cmocka_unit_test(directories),
		cmocka_unit_test(directories_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
