/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/rangelock.c, locks on numbers. The lock on a number is a lock on
 * one byte position of a file. The tests show which locks exclude each other,
 * and for how long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sys/io.h"
#include "sys/rangelock.h"
#include "t/unit/tmprepo.h"

static void test_holders(void **state)
{
	struct error err = ERROR_INIT;
	struct buf path = BUF_INIT;
	struct tmprepo t;
	int a, b;

	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&path, "%s/lock", t.dir);
	a = sys_rangelock_open(path.data, NULL);
	b = sys_rangelock_open(path.data, NULL);
	assert_true(a >= 0 && b >= 0);
	assert_int_equal(sys_rangelock_take(a, 7, true, false, NULL), 0);
	assert_int_equal(sys_rangelock_take(b, 7, true, true, NULL), 0);
	assert_int_equal(sys_rangelock_take(b, 7, false, false, &err),
			 ERR_DENIED);
	assert_int_equal(err.code, ERR_DENIED);
	/*
	 * sys_rangelock_is_taken() ignores locks of the given descriptor
	 * itself.
	 */
	assert_true(sys_rangelock_is_taken(a, 7));
	assert_false(sys_rangelock_is_taken(a, 6));
	/* A lock on another number does not conflict. */
	assert_int_equal(sys_rangelock_take(b, 6, false, false, NULL), 0);
	assert_int_equal(sys_rangelock_take(a, 8, false, false, NULL), 0);
	assert_true(sys_rangelock_is_taken(a, 6));
	assert_false(sys_rangelock_is_taken(a, 8));
	sys_rangelock_drop(a, 7);
	assert_int_equal(sys_rangelock_take(b, 7, false, false, NULL), 0);
	assert_int_equal(sys_rangelock_take(a, 7, true, false, NULL),
			 ERR_DENIED);
	/* Closing the descriptor releases its lock. */
	assert_true(sys_rangelock_is_taken(a, 7));
	sys_close(b);
	assert_false(sys_rangelock_is_taken(a, 7));
	assert_false(sys_rangelock_is_taken(-1, 7));
	assert_int_equal(sys_rangelock_take(a, 7, false, true, NULL), 0);
	sys_rangelock_drop(a, UINT32_MAX);
	sys_close(a);
	buf_release(&path);
	tmprepo_release(&t);
}

static void test_all(void **state)
{
	struct buf path = BUF_INIT;
	struct tmprepo t;
	int a, b;

	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&path, "%s/lock", t.dir);
	a = sys_rangelock_open(path.data, NULL);
	b = sys_rangelock_open(path.data, NULL);
	assert_int_equal(sys_rangelock_take(a, UINT32_MAX, true, false, NULL),
			 0);
	assert_int_equal(sys_rangelock_take_all(b, NULL), ERR_DENIED);
	sys_rangelock_drop(a, UINT32_MAX);
	assert_int_equal(sys_rangelock_take_all(b, NULL), 0);
	assert_int_equal(sys_rangelock_take(a, 0, true, false, NULL),
			 ERR_DENIED);
	sys_rangelock_drop_all(b);
	assert_int_equal(sys_rangelock_take(a, 0, false, false, NULL), 0);
	sys_close(a);
	sys_close(b);
	assert_int_equal(sys_rangelock_take_all(a, NULL), ERR_IO);
	buf_release(&path);
	tmprepo_release(&t);
}

static void test_private(void **state)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	struct tmprepo t;
	int fd;

	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&path, "%s/private", t.dir);
	fd = sys_rangelock_open_private(path.data, NULL);
	assert_true(fd >= 0);
	assert_int_equal(sys_rangelock_take(fd, 1, false, false, NULL), 0);
	assert_int_equal(sys_stat(&st, path.data, NULL), 0);
	assert_int_equal(st.mode & 077, 0);
	sys_close(fd);
	buf_release(&path);
	tmprepo_release(&t);
}

static void test_no_directory(void **state)
{
	assert_int_equal(sys_rangelock_open("/nowhere/at/all", NULL), ERR_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holders),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_private),
		cmocka_unit_test(test_no_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
