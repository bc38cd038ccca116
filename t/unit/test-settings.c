/* SPDX-License-Identifier: MIT */
/*
 * Tests of processes/settings.c, the configuration file of the server: keys and
 * options are read, and every error is reported. t/t5572-gitreachd-config.sh
 * tests the messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "processes/settings.h"

static void count(void *ctx, const char *line)
{
	++*(int *)ctx;
}

static const struct daemon_key *key(const char *name)
{
	const struct daemon_key *k = daemon_settings_keys;

	while (k->name && strcmp(k->name, name))
		k++;
	assert_non_null(k->name);
	return k;
}

static void test_file_and_options(void **state)
{
	static const char text[] = "[gitreachd]\nbase-path = /\nworkers = 3\n"
				   "listen = http://127.0.0.1:1\n"
				   "listen = http://127.0.0.1:2\nexport-all\n";
	struct daemon_settings s;
	int errors = 0;
	const struct daemon_report report = {count, &errors};

	daemon_settings_init(&s);
	assert_int_equal(
		daemon_settings_parse(&s, text, strlen(text), "f", &report), 0);
	assert_string_equal(s.base_path.text, "/");
	assert_int_equal(s.base_path.line, 2);
	assert_int_equal(s.workers, 3);
	assert_int_equal(s.threads, 64);
	assert_true(s.export_all);
	assert_int_equal(s.listen_nr, 2);
	assert_int_equal(s.listen[1].line, 5);
	assert_int_equal(daemon_settings_check(&s, &report), 0);
	assert_int_equal(daemon_settings_option(&s, key("listen"),
						"http://127.0.0.1:3", &report),
			 0);
	assert_int_equal(daemon_settings_option(&s, key("listen"),
						"http://127.0.0.1:4", &report),
			 0);
	assert_int_equal(s.listen_nr, 2);
	assert_string_equal(s.listen[0].text, "http://127.0.0.1:3");
	assert_int_equal(
		daemon_settings_option(&s, key("workers"), "1", &report), 0);
	assert_int_equal(s.workers, 1);
	assert_int_equal(
		daemon_settings_option(&s, key("workers"), "0", &report),
		ERR_INVALID);
	assert_int_equal(errors, 1);
	assert_int_equal(s.workers, 1);
	daemon_settings_release(&s);
}

static void test_store(void **state)
{
	static const char text[] = "[gitreachd]\nlisten = http://127.0.0.1:1\n"
				   "store = s3://bucket/a\ncache = /c\n"
				   "cache-size = 2k\nstore-stale = 5\n"
				   "store-probe = false\n";
	struct daemon_settings s;
	int errors = 0;
	const struct daemon_report report = {count, &errors};

	daemon_settings_init(&s);
	assert_int_equal(
		daemon_settings_parse(&s, text, strlen(text), "f", &report), 0);
	assert_string_equal(s.store.text, "s3://bucket/a");
	assert_int_equal(s.cache_size, 2048);
	assert_int_equal(s.store_stale, 5);
	assert_false(s.store_probe);
	assert_int_equal(s.store_max_age, 0);
	assert_int_equal(s.store_absent_age, 1000);
	assert_int_equal(daemon_settings_check(&s, &report), 0);
	assert_int_equal(
		daemon_settings_option(&s, key("base-path"), "/", &report), 0);
	assert_int_equal(daemon_settings_check(&s, &report), ERR_INVALID);
	assert_int_equal(errors, 1);
	daemon_settings_release(&s);

	/* Without a store. */
	daemon_settings_init(&s);
	daemon_settings_option(&s, key("base-path"), "/", &report);
	daemon_settings_option(&s, key("listen"), "http://127.0.0.1:1",
			       &report);
	assert_int_equal(daemon_settings_check(&s, &report), 0);
	daemon_settings_option(&s, key("cache"), "/c", &report);
	daemon_settings_option(&s, key("store-region"), "x", &report);
	errors = 0;
	assert_int_equal(daemon_settings_check(&s, &report), ERR_INVALID);
	assert_int_equal(errors, 2);
	daemon_settings_release(&s);
}

static void test_every_error_is_reported(void **state)
{
	static const char text[] = "[gitreachd]\nx = 1\nthreads = 1025\n"
				   "timeout = -1\n[other]\nworkers = 1\n";
	static const char malformed[] = "[gitreachd]\nworkers = 2\n=\n";
	struct daemon_settings s;
	int errors = 0;
	const struct daemon_report report = {count, &errors};

	daemon_settings_init(&s);
	assert_int_equal(
		daemon_settings_parse(&s, text, strlen(text), "f", &report),
		ERR_INVALID);
	assert_int_equal(errors, 4);
	assert_int_equal(s.threads, 64);
	assert_int_equal(daemon_settings_parse(&s, malformed, strlen(malformed),
					       "f", &report),
			 ERR_CORRUPT);
	assert_int_equal(errors, 5);
	assert_int_equal(daemon_settings_check(&s, &report), ERR_INVALID);
	assert_int_equal(errors, 7);
	daemon_settings_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_and_options),
		cmocka_unit_test(test_store),
		cmocka_unit_test(test_every_error_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
