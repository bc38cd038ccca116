/* SPDX-License-Identifier: MIT */
/*
 * Tests of walk/sparse.c, which matches paths against the patterns of sparse
 * filters: exactly the right paths are included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "walk/sparse.h"

/*
 * Returns whether sparse patterns include a file. Looks at the file's
 * directories first, as a walk does.
 */
static bool takes(const struct sparse *sparse, const char *path)
{
	bool taken = false;
	char part[64];

	for (size_t from = 0;;) {
		size_t len = strcspn(path + from, "/");
		bool is_dir = path[from + len] == '/';

		snprintf(part, sizeof(part), "%.*s", (int)(from + len), path);
		taken = sparse_takes(sparse, part, part + from, is_dir, taken);
		if (!is_dir)
			return taken;
		from += len + 1;
	}
}

static void included_paths(void **state)
{
	static const struct {
		const char *text, *path;
		bool taken;
	} cases[] = {
		{"", "a", false},
		{"a", "a", true},
		{"a", "b/a", true},
		{"/a", "b/a", false},
		{"/a", "a/x/y", true},
		{"a/", "a", false},
		{"a/", "b/a/x", true},
		{"/*\n!/*/", "t", true},
		{"/*\n!/*/", "a/t", false},
		{"/*\n!/*/\n/a/", "a/t", true},
		{"/a/\n!/a/b/", "a/b/c", false},
		{"/a/\n!/a/b/", "a/c", true},
		{"!x\n*", "x", true},
		{"*\n!x", "x", false},
		{"# x\n", "# x", false},
		{"\\# x", "# x", true},
		{"\\!x", "!x", true},
		{"x  ", "x", true},
		{"x\\ ", "x ", true},
		{"x\r\ny\r\n", "y", true},
		{"a/**/f", "a/b/c/f", true},
		{"a/*/f", "a/b/c/f", false},
		{"**/f", "a/f", true},
		{"/\n!\n!/\n", "a", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sparse *sparse;

		assert_int_equal(sparse_parse(&sparse, cases[i].text,
					      strlen(cases[i].text), NULL),
				 0);
		if (takes(sparse, cases[i].path) != cases[i].taken)
			fail_msg("'%s' and '%s'", cases[i].text, cases[i].path);
		sparse_free(sparse);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(included_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
