/* SPDX-License-Identifier: MIT */
/* repack/multi-pack-lock.h: one holder, for whom others wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <cmocka.h>

#include "repack/multi-pack-lock.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "t/unit/tmprepo.h"

static void *let_go(void *ctx)
{
	sys_sleep_ns(20 * 1000000);
	sys_tempfile_abort(ctx);
	return NULL;
}

static void test_lock(void **state)
{
	struct sys_tempfile lock, second;
	struct error err = ERROR_INIT;
	struct buf path = BUF_INIT;
	pthread_t thread;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&path, "%s/multi-pack-index.lock", t.dir);
	assert_int_equal(multi_pack_lock(&lock, t.dir, NULL), 0);
	assert_true(sys_exists(path.data));
	assert_int_equal(multi_pack_lock(&second, t.dir, &err), ERR_DENIED);
	assert_non_null(strstr(err.msg, path.data));
	assert_int_equal(pthread_create(&thread, NULL, let_go, &lock), 0);
	assert_int_equal(multi_pack_lock(&second, t.dir, NULL), 0);
	pthread_join(thread, NULL);
	sys_tempfile_abort(&second);
	assert_false(sys_exists(path.data));
	buf_release(&path);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
