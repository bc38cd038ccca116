/* SPDX-License-Identifier: MIT */
/* sys/lockfile.c: there is one holder, and others wait for a limited time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <pthread.h>
#include <cmocka.h>

#include "sys/clock.h"
#include "sys/lockfile.h"
#include "t/unit/tmprepo.h"

static void test_held(void **state)
{
	struct sys_tempfile lock, second;
	struct error err = ERROR_INIT;
	struct buf path = BUF_INIT, words = BUF_INIT;
	struct tmprepo t;
	uint64_t start;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&path, "%s/x.lock", t.dir);
	buf_printf(&words, "Unable to create '%s': File exists.", path.data);
	assert_int_equal(sys_lockfile_create(&lock, path.data, 0, NULL), 0);
	assert_int_equal(sys_lockfile_create(&second, path.data, 0, &err),
			 ERR_DENIED);
	assert_string_equal(err.msg, words.data);
	assert_null(second.path);
	start = sys_clock_ns();
	assert_int_equal(sys_lockfile_create(&second, path.data, 20, NULL),
			 ERR_DENIED);
	assert_true(sys_clock_ns() - start >= 20 * 1000000);
	sys_tempfile_abort(&lock);
	assert_int_equal(sys_lockfile_create(&lock, path.data, 0, NULL), 0);
	sys_tempfile_abort(&lock);
	buf_release(&path);
	buf_release(&words);
	tmprepo_release(&t);
}

static void test_no_directory(void **state)
{
	struct error err = ERROR_INIT;
	struct sys_tempfile lock;

	(void)state;
	assert_int_equal(
		sys_lockfile_create(&lock, "/nowhere/at/all.lock", 1000, &err),
		ERR_IO);
	assert_int_equal(err.sys_errno, ENOENT);
}

static void *let_go(void *ctx)
{
	sys_sleep_ns(20 * 1000000);
	sys_tempfile_abort(ctx);
	return NULL;
}

static void test_waits(void **state)
{
	struct sys_tempfile lock, second;
	struct buf path = BUF_INIT;
	pthread_t thread;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&path, "%s/x.lock", t.dir);
	assert_int_equal(sys_lockfile_create(&lock, path.data, 0, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, let_go, &lock), 0);
	assert_int_equal(sys_lockfile_create(&second, path.data, -1, NULL), 0);
	pthread_join(thread, NULL);
	sys_tempfile_abort(&second);
	buf_release(&path);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_no_directory),
		cmocka_unit_test(test_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
