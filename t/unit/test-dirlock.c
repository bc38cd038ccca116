/* SPDX-License-Identifier: MIT */
/* Tests of sys/dirlock.c, locks on directories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys/dirlock.h"
#include "t/unit/tmprepo.h"

static void test_holders(void **state)
{
	struct error err = ERROR_INIT;
	struct buf path = BUF_INIT;
	struct tmprepo t;
	int lock;

	tmprepo_init(&t, HASH_SHA1);
	lock = sys_dirlock_take(t.dir, 0, NULL);
	assert_true(lock >= 0 && lock != SYS_DIRLOCK_NONE);
	assert_int_equal(sys_dirlock_take(t.dir, 30, &err), ERR_DENIED);
	assert_int_equal(err.code, ERR_DENIED);
	sys_dirlock_drop(lock);
	lock = sys_dirlock_take(t.dir, 0, NULL);
	assert_true(lock >= 0 && lock != SYS_DIRLOCK_NONE);
	lock = sys_dirlock_yield(lock, t.dir, 0, NULL);
	assert_true(lock >= 0 && lock != SYS_DIRLOCK_NONE);
	assert_int_equal(sys_dirlock_yield(SYS_DIRLOCK_NONE, t.dir, 30, NULL),
			 ERR_DENIED);
	sys_dirlock_drop(lock);
	buf_printf(&path, "%s/absent", t.dir);
	lock = sys_dirlock_take(path.data, 0, NULL);
	assert_int_equal(lock, SYS_DIRLOCK_NONE);
	sys_dirlock_drop(lock);
	sys_dirlock_drop(ERR_DENIED);
	buf_release(&path);
	tmprepo_release(&t);
}

/*
 * While another process keeps the lock, a new pack may only get a name that no
 * stored pack has: the other process may be removing the stored pack.
 */
static void test_for_pack(void **state)
{
	struct error err = ERROR_INIT;
	struct buf path = BUF_INIT;
	struct tmprepo t;
	int held, lock;

	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&path, "%s/pack-1.pack", t.dir);
	held = sys_dirlock_take_for_pack(path.data, 0, &err);
	assert_true(held >= 0 && held != SYS_DIRLOCK_NONE);
	lock = sys_dirlock_take_for_pack(path.data, 30, &err);
	assert_int_equal(lock, SYS_DIRLOCK_NONE);
	assert_int_equal(err.code, 0);
	tmprepo_write(&t, "pack-1.pack", "");
	lock = sys_dirlock_take_for_pack(path.data, 30, &err);
	assert_int_equal(lock, ERR_DENIED);
	assert_int_equal(err.code, ERR_DENIED);
	sys_dirlock_drop(held);
	lock = sys_dirlock_take_for_pack(path.data, 0, NULL);
	assert_true(lock >= 0 && lock != SYS_DIRLOCK_NONE);
	sys_dirlock_drop(lock);
	buf_release(&path);
	tmprepo_release(&t);
}

/*
 * A process without a free descriptor must not work without the lock: another
 * process may hold it.
 */
static void test_no_descriptor(void **state)
{
	struct error err = ERROR_INIT;
	struct buf path = BUF_INIT;
	struct rlimit before, limit;
	struct tmprepo t;
	int lock;

	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&path, "%s/pack-1.pack", t.dir);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)dup(0);
	close((int)limit.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(sys_dirlock_take(t.dir, 0, &err), ERR_IO);
	assert_int_equal(err.sys_errno, EMFILE);
	lock = sys_dirlock_take_for_pack(path.data, 0, NULL);
	assert_int_equal(lock, SYS_DIRLOCK_NONE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	tmprepo_write(&t, "pack-1.pack", "");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(sys_dirlock_take_for_pack(path.data, 0, NULL), ERR_IO);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	buf_release(&path);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holders),
		cmocka_unit_test(test_for_pack),
		cmocka_unit_test(test_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
