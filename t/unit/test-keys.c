/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/keys.c, which reads the access keys of an S3 store from files
 * and from the environment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/keys.h"
#include "sys/io.h"
#include "sys/tempdir.h"

static const char file[] = "# a comment\n"
			   "[default]\n"
			   "aws_access_key_id = ID1\r\n"
			   "aws_secret_access_key=secret/1+=\n"
			   "region = eu-west-1\n"
			   "a line without a value\n"
			   "\n"
			   "[ other ]\n"
			   "\taws_access_key_id=ID2\n"
			   "aws_secret_access_key=secret2\n"
			   "aws_session_token = token2";

static int parse(struct store_keys *keys, const char *text, const char *profile,
		 struct error *err)
{
	return store_keys_parse(keys, text, strlen(text), profile, err);
}

static void test_profiles(void **state)
{
	struct store_keys keys = {NULL, NULL, NULL};

	assert_int_equal(parse(&keys, file, "default", NULL), 0);
	assert_string_equal(keys.id, "ID1");
	assert_string_equal(keys.secret, "secret/1+=");
	assert_null(keys.token);
	assert_int_equal(parse(&keys, file, "other", NULL), 0);
	assert_string_equal(keys.id, "ID2");
	assert_string_equal(keys.secret, "secret2");
	assert_string_equal(keys.token, "token2");
	/* After an error, the keys are unchanged. */
	assert_int_equal(parse(&keys, file, "none", NULL), ERR_MISSING);
	assert_string_equal(keys.id, "ID2");
	store_keys_release(&keys);
	assert_null(keys.secret);
}

static void test_bad_files(void **state)
{
	struct store_keys keys = {NULL, NULL, NULL};
	struct error err = ERROR_INIT;

	assert_int_equal(parse(&keys, "", "default", &err), ERR_MISSING);
	assert_int_equal(parse(&keys, "[default]\naws_access_key_id=a\n",
			       "default", &err),
			 ERR_MISSING);
	assert_int_equal(parse(&keys,
			       "[default]\naws_access_key_id=a\n"
			       "aws_secret_access_key=hidden word\n",
			       "default", &err),
			 ERR_INVALID);
	assert_null(strstr(err.msg, "hidden"));
	assert_int_equal(parse(&keys, "[default]\naws_access_key_id=\n",
			       "default", &err),
			 ERR_INVALID);
	assert_null(keys.id);
}

static void unset_all(void)
{
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
	unsetenv("AWS_SESSION_TOKEN");
	unsetenv("AWS_SHARED_CREDENTIALS_FILE");
	unsetenv("AWS_PROFILE");
	unsetenv("HOME");
}

static void test_find(void **state)
{
	char path[] = "/tmp/gitreach-keys-XXXXXX";
	struct store_keys keys = {NULL, NULL, NULL};
	struct error err = ERROR_INIT;
	int fd = mkstemp(path);

	assert_int_equal(write(fd, file, strlen(file)), strlen(file));
	close(fd);
	unset_all();
	assert_int_equal(store_keys_find(&keys, &err), ERR_MISSING);
	assert_non_null(strstr(err.msg, "AWS_ACCESS_KEY_ID"));
	setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
	assert_int_equal(store_keys_find(&keys, NULL), 0);
	assert_string_equal(keys.id, "ID1");
	setenv("AWS_PROFILE", "other", 1);
	assert_int_equal(store_keys_find(&keys, NULL), 0);
	assert_string_equal(keys.id, "ID2");
	/* Keys in the environment take precedence over keys in the file. */
	setenv("AWS_ACCESS_KEY_ID", "ID3", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "secret3", 1);
	assert_int_equal(store_keys_find(&keys, NULL), 0);
	assert_string_equal(keys.id, "ID3");
	assert_null(keys.token);
	setenv("AWS_SESSION_TOKEN", "token3", 1);
	assert_int_equal(store_keys_find(&keys, NULL), 0);
	assert_string_equal(keys.token, "token3");
	setenv("AWS_SECRET_ACCESS_KEY", "two\nlines", 1);
	assert_int_equal(store_keys_find(&keys, NULL), ERR_INVALID);
	unset_all();
	setenv("AWS_SHARED_CREDENTIALS_FILE", "/none/such", 1);
	assert_int_equal(store_keys_find(&keys, NULL), ERR_MISSING);
	store_keys_release(&keys);
	unset_all();
	unlink(path);
}

static void test_home(void **state)
{
	struct sys_tempdir dir = SYS_TEMPDIR_INIT;
	struct store_keys keys = {NULL, NULL, NULL};
	char path[256];

	unset_all();
	assert_int_equal(sys_tempdir_create(&dir, "/tmp", "keys-", NULL), 0);
	snprintf(path, sizeof(path), "%s/.aws", dir.path);
	assert_int_equal(sys_mkdir_p(path, NULL), 0);
	setenv("HOME", dir.path, 1);
	assert_int_equal(store_keys_find(&keys, NULL), ERR_MISSING);
	snprintf(path, sizeof(path), "%s/.aws/credentials", dir.path);
	assert_int_equal(sys_append(path, file, strlen(file), 0600, NULL), 0);
	assert_int_equal(store_keys_find(&keys, NULL), 0);
	assert_string_equal(keys.id, "ID1");
	store_keys_release(&keys);
	unset_all();
	sys_tempdir_release(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profiles),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
