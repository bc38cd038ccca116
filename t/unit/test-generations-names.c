/* SPDX-License-Identifier: MIT */
/*
 * Tests of generations/names.c, which makes the names of files in a store from
 * repository paths. They prove that the names can be parsed again, and that
 * unsuitable paths are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "generations/names.h"
#include "store/filestore.h"

static void test_names(void **state)
{
	struct generation_file file = {.size = 1}, back;
	struct buf name = BUF_INIT;
	size_t len;

	memset(file.sha256, 0xab, sizeof(file.sha256));
	memset(file.upload, 0x0c, sizeof(file.upload));
	assert_int_equal(
		generation_record_name(&name, "team/app.git", 0x1f, NULL), 0);
	assert_string_equal(name.data,
			    "repo/team/app.git/_/gen/000000000000001f");
	buf_reset(&name);
	assert_int_equal(generation_hint_name(&name, "team/app.git", NULL), 0);
	assert_string_equal(name.data, "hint/team/app.git/_");
	buf_reset(&name);
	assert_int_equal(generation_file_prefix(&name, "a", NULL), 0);
	assert_string_equal(name.data, "repo/a/_/file/");
	len = name.len;
	buf_reset(&name);
	assert_int_equal(generation_file_name(&name, "a", &file, NULL), 0);
	assert_string_equal(name.data,
			    "repo/a/_/file/abababababababababababababababababab"
			    "abababababababababababababab."
			    "0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c");

	assert_true(generation_file_of_name(&back, name.data, len));
	assert_memory_equal(back.sha256, file.sha256, sizeof(file.sha256));
	assert_memory_equal(back.upload, file.upload, sizeof(file.upload));
	assert_false(generation_file_of_name(&back, name.data, len - 1));
	name.data[len] = 'A';
	assert_false(generation_file_of_name(&back, name.data, len));
	name.data[len] = '.';
	assert_false(generation_file_of_name(&back, name.data, len));
	name.data[len] = 'a';
	name.data[name.len - 1] = '.';
	assert_false(generation_file_of_name(&back, name.data, len));
	name.data[name.len - 1] = '\0';
	assert_false(generation_file_of_name(&back, name.data, len));
	buf_release(&name);
}

/*
 * Each repository in a store has a hint: a small file with the number or a copy
 * of a recent record (manifest). The name of the hint has the path of the
 * repository, in quoted form. The name must be valid, and unquoting it must
 * give the path.
 */
static void test_quotes(void **state)
{
	static const char *const cases[][2] = {
		{"a", "hint/a/_"},
		{"a/b", "hint/a/b/_"},
		{"_", "hint/_5f/_"},
		{"a_b/.c", "hint/a_5fb/_2ec/_"},
		{"a..b", "hint/a..b/_"},
		{"...", "hint/_2e../_"},
		{"\xc3\xa4 +%", "hint/_c3_a4_20_2b_25/_"},
		{"a\"b\x80", "hint/a_22b_80/_"},
		{"hint/_/x", "hint/hint/_5f/x/_"},
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct buf name = BUF_INIT, path = BUF_INIT;

		assert_int_equal(generation_hint_name(&name, cases[i][0], NULL),
				 0);
		assert_string_equal(name.data, cases[i][1]);
		assert_true(filestore_name_is_valid(name.data));
		assert_int_equal(
			generation_hint_repository(&path, name.data, NULL), 0);
		assert_string_equal(path.data, cases[i][0]);
		buf_release(&name);
		buf_release(&path);
	}
}

static void test_bad_paths(void **state)
{
	static const char *const cases[] = {
		"",     "/",   "/a",    "a/",   "a//b",     ".",     "..",
		"a/..", "./a", "a/./b", "a\nb", "a\x1b[2J", "a\x7f",
	};
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;

	assert_int_equal(buf_append_str(&out, "before"), 0);
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		assert_int_equal(
			generation_record_name(&out, cases[i], 1, &err),
			ERR_INVALID);
		assert_int_equal(generation_hint_name(&out, cases[i], NULL),
				 ERR_INVALID);
	}
	assert_string_equal(out.data, "before");
	buf_release(&out);
}

/*
 * Each part of a repository's path becomes the name of a directory, so the
 * length of a part is limited to 255 bytes.
 */
static void test_long_parts(void **state)
{
	char path[2 + 256 + 2 + 1], quoted[86];
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;

	memset(path, 'a', sizeof(path));
	memcpy(path, "b/", 2);
	path[2 + 255] = '\0';
	assert_int_equal(generation_hint_name(&out, path, &err), 0);
	strcpy(path + 2 + 255, "/c");
	assert_int_equal(generation_hint_name(&out, path, &err), 0);
	strcpy(path + 2 + 255, "x");
	buf_reset(&out);
	assert_int_equal(generation_hint_name(&out, path, &err), ERR_INVALID);
	assert_non_null(strstr(err.msg, "too long for a store"));
	strcpy(path + 2 + 255, "x/c");
	assert_int_equal(generation_record_name(&out, path, 1, &err),
			 ERR_INVALID);
	/*
	 * A space is quoted as three bytes, so 85 spaces become a part of 255
	 * bytes.
	 */
	memset(quoted, ' ', sizeof(quoted));
	quoted[85] = '\0';
	assert_int_equal(generation_hint_name(&out, quoted, &err), 0);
	buf_reset(&out);
	assert_int_equal(buf_append_str(&out, "before"), 0);
	strcpy(path, quoted);
	strcat(path, " ");
	assert_int_equal(generation_hint_name(&out, path, &err), ERR_INVALID);
	assert_string_equal(out.data, "before");
	buf_release(&out);
}

static void test_other_hints(void **state)
{
	static const char *const cases[] = {
		"hint/a",      "hint/_",      "hint//_",
		"repo/a/_",    "hint/_5F/_",  "hint/_61/_",
		"hint/_zz/_",  "hint/_5/_",   "hint/a/../_",
		"hint/.a/_",   "hint/_00/_",  "hint/a+b/_",
		"hint/a/_/_",  "hint/a__/_",  "",
		"hint/a/_5",   "hint/a_0a/_", "hint/_1b/_",
		"hint/a_7f/_",
	};
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < ARRAY_NR(cases); i++)
		assert_int_equal(
			generation_hint_repository(&out, cases[i], NULL), 1);
	assert_int_equal(out.len, 0);
	buf_release(&out);
}

/*
 * If the path of a repository is very long, the name of one of its files would
 * be too long for the store. In this case, the names of all its files are
 * refused.
 */
static void test_long_paths(void **state)
{
	/*
	 * Length of the longest path that is allowed. The rest of a file's name
	 * is "repo/", "/_/file/", a hash, a dot and a token.
	 */
	const size_t room = STORE_NAME_MAX - 5 - 8 - 64 - 1 - 32;
	struct generation_file file = {.size = 1};
	char path[STORE_NAME_MAX];
	struct buf out = BUF_INIT;

	memset(path, 'x', sizeof(path));
	path[room / 2] = '/';
	path[room] = '\0';
	assert_int_equal(generation_file_name(&out, path, &file, NULL), 0);
	assert_int_equal(out.len, STORE_NAME_MAX);
	assert_true(filestore_name_is_valid(out.data));
	buf_reset(&out);
	path[room - 1] = '_';
	assert_int_equal(generation_hint_name(&out, path, NULL), ERR_INVALID);
	path[room - 1] = 'x';
	path[room] = 'x';
	path[room + 1] = '\0';
	assert_int_equal(generation_file_name(&out, path, &file, NULL),
			 ERR_INVALID);
	assert_int_equal(generation_hint_name(&out, path, NULL), ERR_INVALID);
	assert_int_equal(generation_record_name(&out, path, 1, NULL),
			 ERR_INVALID);
	assert_int_equal(out.len, 0);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_bad_paths),
		cmocka_unit_test(test_long_parts),
		cmocka_unit_test(test_other_hints),
		cmocka_unit_test(test_long_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
