/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/filestore.c, the functions that all stores of files have in
 * common. They prove which names are valid, and that wrong arguments are
 * refused before a store is used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/open.h"
#include "sys/tempdir.h"

static void test_names(void **state)
{
	static const char *const good[] = {"a", "a/b", "A-Z_0.9/x.pack",
					   "gen/0000000000000001", "a..b"};
	static const char *const bad[] = {
		"",     "/",    "/a",   "a/",   "a//b",     ".",
		"..",   "a/..", "a/.b", ".tmp", "a b",      "a%2fb",
		"a\\b", "a?b",  "a\n",  "a+b",  "\xc3\xa4",
	};
	char name[STORE_NAME_MAX + 2];

	for (size_t i = 0; i < ARRAY_NR(good); i++)
		assert_true(filestore_name_is_valid(good[i]));
	for (size_t i = 0; i < ARRAY_NR(bad); i++)
		assert_false(filestore_name_is_valid(bad[i]));
	memset(name, 'x', sizeof(name));
	name[STORE_NAME_MAX] = '\0';
	assert_true(filestore_name_is_valid(name));
	name[STORE_NAME_MAX] = 'x';
	name[STORE_NAME_MAX + 1] = '\0';
	assert_false(filestore_name_is_valid(name));
}

static void test_page(void **state)
{
	struct filestore_page page = {NULL, 0, 0, NULL};
	struct filestore_info info = {.size = 7};

	assert_int_equal(filestore_page_add(&page, "a", &info), 0);
	assert_int_equal(filestore_page_add(&page, "../b", &info), 0);
	assert_int_equal(page.nr, 1);
	assert_string_equal(page.entries[0].name, "a");
	assert_int_equal(page.entries[0].info.size, 7);
	filestore_page_release(&page);
	assert_null(page.entries);
}

/*
 * Wrong arguments must be refused before the store is called. All functions of
 * the store are NULL.
 */
static void test_wrong_arguments(void **state)
{
	static const struct filestore_ops none = {NULL};
	const struct filestore_condition always = {STORE_ALWAYS, NULL};
	const struct filestore_condition no_tag = {STORE_REPLACE, NULL};
	const struct filestore_condition empty_tag = {STORE_REPLACE, ""};
	struct filestore s = {.ops = &none};
	struct filestore_page page = {NULL, 0, 0, NULL};
	struct filestore_sink sink = {NULL, NULL};
	struct filestore_info info = {.size = 1};
	struct buf out = BUF_INIT;
	char etag[STORE_ETAG_MAX + 1] = "old";

	assert_int_equal(filestore_get(&s, &out, NULL, "..", 1, NULL),
			 ERR_INVALID);
	assert_int_equal(filestore_read(&s, &info, &sink, "a", 0, 0, NULL),
			 ERR_INVALID);
	assert_int_equal(info.size, 0);
	assert_int_equal(
		filestore_read(&s, NULL, &sink, "a", UINT64_MAX - 1, 2, NULL),
		ERR_INVALID);
	assert_int_equal(filestore_get_range(&s, NULL, "a/", 0, 0, NULL),
			 ERR_INVALID);
	assert_int_equal(filestore_get_range(&s, NULL, "a", 0, 0, NULL), 0);
	assert_int_equal(filestore_head(&s, &info, "", NULL), ERR_INVALID);
	assert_int_equal(filestore_put(&s, etag, "/a", "", 0, &always, NULL),
			 ERR_INVALID);
	assert_string_equal(etag, "");
	assert_int_equal(filestore_put(&s, NULL, "a", "", 0, &no_tag, NULL),
			 ERR_INVALID);
	assert_int_equal(filestore_put(&s, NULL, "a", "", 0, &empty_tag, NULL),
			 ERR_INVALID);
	assert_int_equal(filestore_put_file(&s, NULL, "a", "/none/such", NULL,
					    &always, NULL),
			 ERR_MISSING);
	assert_int_equal(filestore_delete(&s, "a b", NULL), ERR_INVALID);
	assert_int_equal(filestore_list(&s, &page, "/", 1, NULL), ERR_INVALID);
	assert_int_equal(filestore_list(&s, &page, "a", 0, NULL), ERR_INVALID);
	assert_int_equal(filestore_presign(&s, &out, "a", 0, NULL),
			 ERR_INVALID);
	assert_int_equal(filestore_presign(&s, &out, "a", 604801, NULL),
			 ERR_INVALID);
	assert_int_equal(out.len, 0);
	filestore_close(NULL);
}

static int refuse(void *ctx, const void *bytes, size_t len, struct error *err)
{
	return ERR_CANCELLED;
}

static int stop_at_second(void *ctx, const struct filestore_entry *entry,
			  struct error *err)
{
	return ++*(int *)ctx == 2 ? 77 : 0;
}

static void test_callbacks(void **state)
{
	const struct filestore_condition create = {STORE_CREATE, NULL};
	struct sys_tempdir dir = SYS_TEMPDIR_INIT;
	struct filestore_sink sink = {refuse, NULL};
	struct buf out = BUF_INIT;
	struct filestore *s;
	int seen = 0;

	assert_int_equal(sys_tempdir_create(&dir, "/tmp", "store-", NULL), 0);
	assert_int_equal(store_directory_make(&s, dir.path, NULL), 0);
	assert_int_equal(filestore_put(s, NULL, "a", "12", 2, &create, NULL),
			 0);
	assert_int_equal(filestore_put(s, NULL, "b", "", 0, &create, NULL), 0);
	assert_int_equal(filestore_put(s, NULL, "c", "", 0, &create, NULL), 0);
	assert_int_equal(
		filestore_read(s, NULL, &sink, "a", 0, STORE_TO_END, NULL),
		ERR_CANCELLED);
	buf_append_str(&out, "kept");
	assert_int_equal(filestore_get(s, &out, NULL, "a", 1, NULL),
			 ERR_CORRUPT);
	assert_string_equal(out.data, "kept");
	assert_int_equal(filestore_get(s, &out, NULL, "a", 2, NULL), 0);
	assert_string_equal(out.data, "kept12");
	assert_int_equal(
		filestore_list_each(s, "", stop_at_second, &seen, NULL), 77);
	assert_int_equal(seen, 2);
	buf_release(&out);
	filestore_close(s);
	sys_tempdir_release(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_wrong_arguments),
		cmocka_unit_test(test_callbacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
