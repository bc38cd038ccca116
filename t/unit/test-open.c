/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/open.c, which opens a store by its URL: each form of URL gives
 * the right store and access keys, and other URLs are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "store/open.h"
#include "sys/tempdir.h"

static void test_directory(void **state)
{
	const struct store_s3_settings set = STORE_S3_SETTINGS_INIT;
	const struct filestore_condition create = {STORE_CREATE, NULL};
	struct sys_tempdir dir = SYS_TEMPDIR_INIT;
	struct buf url = BUF_INIT;
	struct filestore *s;

	assert_int_equal(sys_tempdir_create(&dir, "/tmp", "store-", NULL), 0);
	buf_printf(&url, "file://%s/sub", dir.path);
	assert_int_equal(store_open_url(&s, url.data, &set, NULL), ERR_IO);
	assert_int_equal(store_make_url(&s, url.data, &set, NULL), 0);
	filestore_close(s);
	assert_int_equal(store_open_url(&s, url.data, &set, NULL), 0);
	assert_int_equal(filestore_put(s, NULL, "a", "1", 1, &create, NULL), 0);
	filestore_close(s);
	buf_release(&url);
	sys_tempdir_release(&dir);
}

static void test_bucket(void **state)
{
	struct store_s3_settings set = STORE_S3_SETTINGS_INIT;
	struct buf url = BUF_INIT;
	struct filestore *s;

	set.endpoint = "http://h:1";
	setenv("AWS_ACCESS_KEY_ID", "ID7", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
	assert_int_equal(store_open_url(&s, "s3://bucket/a/b", &set, NULL), 0);
	assert_int_equal(filestore_presign(s, &url, "n", 60, NULL), 0);
	assert_non_null(strstr(url.data, "http://h:1/bucket/a/b/n?"));
	assert_non_null(strstr(url.data, "Credential=ID7%2F"));
	filestore_close(s);
	buf_reset(&url);
	assert_int_equal(store_open_url(&s, "s3://bucket", &set, NULL), 0);
	assert_int_equal(filestore_presign(s, &url, "n", 60, NULL), 0);
	assert_non_null(strstr(url.data, "http://h:1/bucket/n?"));
	filestore_close(s);
	buf_release(&url);
}

static void test_refused(void **state)
{
	const struct store_s3_settings set = STORE_S3_SETTINGS_INIT;
	struct error err = ERROR_INIT;
	struct filestore *s;

	assert_int_equal(store_open_url(&s, "file://host/a", &set, &err),
			 ERR_INVALID);
	assert_non_null(strstr(err.msg, "invalid URL of a store"));
	assert_null(s);
	assert_int_equal(store_open_url(&s, "http://h/a", &set, NULL),
			 ERR_INVALID);
	assert_int_equal(store_open_url(&s, "s3:///a", &set, NULL),
			 ERR_INVALID);
	assert_int_equal(store_open_url(&s, "s3://bucket/a/", &set, NULL),
			 ERR_INVALID);
	unsetenv("AWS_ACCESS_KEY_ID");
	setenv("AWS_SHARED_CREDENTIALS_FILE", "/none/such", 1);
	assert_int_equal(store_open_url(&s, "s3://bucket", &set, NULL),
			 ERR_MISSING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_bucket),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
