/* SPDX-License-Identifier: MIT */
/*
 * Tests of builtin/gc-lock.c, the files gc.pid and gc.log. They prove that only
 * one gc runs at a time, and that a lock of a killed process does not hinder
 * gc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "builtin/gc-parts.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "t/unit/tmprepo.h"

static void make_old(const struct tmprepo *t, const char *name, int64_t seconds)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", t->dir, name);
	assert_int_equal(
		sys_set_mtime(path, sys_clock_seconds() - seconds, NULL), 0);
}

static bool exists(const struct tmprepo *t, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", t->dir, name);
	return sys_exists(path);
}

static int take(struct sys_tempfile *pid, const struct tmprepo *t, bool force,
		const char *other)
{
	struct buf b = BUF_INIT;
	int ret = gc_lock_take(pid, &t->repo, force, &b, NULL);

	if (ret > 0)
		assert_string_equal(b.data, other);
	buf_release(&b);
	return ret;
}

static void test_pid(void **state)
{
	struct sys_tempfile pid, own;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "gc.pid", "1 elsewhere");
	assert_int_equal(take(&pid, &t, false, "machine 'elsewhere' pid 1"), 1);
	make_old(&t, "gc.pid", 11 * 60 * 60);
	assert_int_equal(take(&pid, &t, false, "machine 'elsewhere' pid 1"), 1);
	sys_tempfile_abort(&pid);
	assert_true(exists(&t, "gc.pid"));
	make_old(&t, "gc.pid", 13 * 60 * 60);
	assert_int_equal(take(&own, &t, false, ""), 0);
	/* The file gc.pid is ignored if this process has written it itself. */
	assert_int_equal(take(&pid, &t, false, ""), 0);
	sys_tempfile_abort(&pid);
	assert_false(exists(&t, "gc.pid"));
	sys_tempfile_abort(&own);
	tmprepo_write(&t, "gc.pid", "1 elsewhere");
	assert_int_equal(take(&pid, &t, true, ""), 0);
	sys_tempfile_abort(&pid);
	tmprepo_write(&t, "gc.pid", "no number");
	assert_int_equal(take(&pid, &t, false, ""), 0);
	assert_false(exists(&t, "gc.pid.lock"));
	sys_tempfile_abort(&pid);
	tmprepo_release(&t);
}

static void test_stale_lock(void **state)
{
	struct sys_tempfile pid;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "gc.pid.lock", "");
	assert_int_equal(take(&pid, &t, false, ""), ERR_DENIED);
	make_old(&t, "gc.pid.lock", 100);
	assert_int_equal(take(&pid, &t, false, ""), 0);
	sys_tempfile_abort(&pid);
	tmprepo_release(&t);
}

static void test_log(void **state)
{
	int64_t now = sys_clock_seconds();
	struct buf b = BUF_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(gc_log_read(&b, &t.repo, 0, NULL), 0);
	tmprepo_write(&t, "gc.log", "");
	assert_int_equal(gc_log_read(&b, &t.repo, 0, NULL), 0);
	tmprepo_write(&t, "gc.log", "went wrong\n");
	assert_int_equal(gc_log_read(&b, &t.repo, now - 100, NULL), 1);
	assert_string_equal(b.data, "went wrong\n");
	make_old(&t, "gc.log", 200);
	buf_reset(&b);
	assert_int_equal(gc_log_read(&b, &t.repo, now - 100, NULL), 0);
	assert_int_equal(gc_log_read(&b, &t.repo, 0, NULL), 1);
	gc_log_remove(&t.repo);
	assert_false(exists(&t, "gc.log"));
	buf_release(&b);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pid),
		cmocka_unit_test(test_stale_lock),
		cmocka_unit_test(test_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
