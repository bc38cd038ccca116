/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/odb-alternates.c: nested alternates are followed to a limit,
 * each directory is listed once, and missing directories are left out with a
 * warning.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "odb/odb-alternates.h"
#include "t/unit/tmprepo.h"

static void assert_paths(const char *list, char sep,
			 const char *const *expected)
{
	struct buf path = BUF_INIT;
	int ret = 0;

	while (odb_alternates_next(&path, &list, sep, &ret))
		assert_string_equal(path.data, *expected++);
	assert_int_equal(ret, 0);
	assert_null(*expected);
	buf_release(&path);
}

#define PATHS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_next(void **state)
{
	assert_paths("", ':', PATHS(NULL));
	assert_paths("/a:/b", ':', PATHS("/a", "/b"));
	assert_paths("/a::/b:", ':', PATHS("/a", "", "/b"));
	assert_paths("# no\n/a:b\n", '\n', PATHS("", "/a:b"));
	assert_paths("\"/a:\\\"\\142\\n\":c", ':', PATHS("/a:\"b\n", "c"));
	assert_paths("\"open:c", ':', PATHS("\"open", "c"));
	assert_paths("\"\\9\":c", ':', PATHS("\"\\9\"", "c"));
}

/*
 * Asserts that the object directories of a repository are `expected`.
 * Directories that exist are compared by their last path component.
 */
static void assert_dirs(const struct tmprepo *t, const char *const *expected,
			struct error *warning)
{
	char **dirs;
	size_t nr, i;

	assert_int_equal(
		odb_alternates_list(&dirs, &nr, &t->repo, warning, NULL), 0);
	for (i = 0; i < nr; i++) {
		size_t len = strlen(dirs[i]);

		assert_non_null(expected[i]);
		assert_true(len > strlen(expected[i]));
		assert_string_equal(dirs[i] + len - strlen(expected[i]),
				    expected[i]);
		free(dirs[i]);
	}
	assert_null(expected[i]);
	free(dirs);
}

static void test_none(void **state)
{
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_dirs(&t, PATHS("/objects"), NULL);
	tmprepo_release(&t);
}

static void test_nested(void **state)
{
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "objects/info/alternates", "../a/objects\n../c\n");
	tmprepo_write(&t, "a/objects/info/alternates",
		      "../../b\n../../objects\n");
	tmprepo_write(&t, "b/info/alternates", "../a/objects/\n../b\n");
	tmprepo_write(&t, "c/x", "");
	assert_dirs(&t, PATHS("/objects", "/a/objects", "/b", "/c"), NULL);
	tmprepo_release(&t);
}

static void test_missing(void **state)
{
	struct error warning = ERROR_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "objects/info/alternates", "../a\n../file\n../b\n");
	tmprepo_write(&t, "file", "");
	tmprepo_write(&t, "b/x", "");
	assert_dirs(&t, PATHS("/objects", "/b"), &warning);
	assert_non_null(strstr(warning.msg, "does not exist"));
	tmprepo_release(&t);
}

static void test_too_deep(void **state)
{
	struct error warning = ERROR_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "objects/info/alternates", "../0\n");
	for (char i = '0'; i < '8'; i++) {
		char name[] = "?/info/alternates", text[] = "../?\n";

		name[0] = i;
		text[3] = (char)(i + 1);
		tmprepo_write(&t, name, text);
	}
	assert_dirs(&t, PATHS("/objects", "/0", "/1", "/2", "/3", "/4", "/5"),
		    &warning);
	assert_non_null(strstr(warning.msg, "nesting too deep"));
	tmprepo_release(&t);
}

static void test_environment(void **state)
{
	struct buf list = BUF_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "objects/info/alternates", "../a\n");
	tmprepo_write(&t, "a/x", "");
	tmprepo_write(&t, "b:c/x", "");
	buf_printf(&list, "\"%s/b:c\":%s/a", t.dir, t.dir);
	t.repo.alternate_object_dirs = list.data;
	assert_dirs(&t, PATHS("/objects", "/b:c", "/a"), NULL);
	buf_release(&list);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
