/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/lockfile.c: only one process at a time holds a lock. A PID file
 * names the holder. Other processes wait for the lock for a limited time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/map.h"
#include "sys/process.h"
#include "sys/share.h"
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
	buf_printf(&words,
		   "Unable to create '%s': File exists.\n\n"
		   "Another git process seems to be running in this "
		   "repository, or the lock file may be stale",
		   path.data);
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

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* The PID file exists while the lock is held. */
static void test_pid_file(void **state)
{
	enum sys_fsync_method none = SYS_FSYNC_NONE;
	const unsigned mode = 0666 | SYS_SHARE_PID;
	struct buf lock = BUF_INIT, pid = BUF_INIT, done = BUF_INIT,
		   words = BUF_INIT, text = BUF_INIT;
	struct sys_tempfile held, second;
	struct error err = ERROR_INIT;
	struct tmprepo t;
	long nr;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&lock, "%s/a.b.lock", t.dir);
	buf_printf(&pid, "%s/a.b~pid.lock", t.dir);
	buf_printf(&done, "%s/a.b", t.dir);
	/* The PID file of a killed process is replaced. */
	write_text(pid.data, "pid 1\n");
	assert_int_equal(
		sys_lockfile_create_mode(&held, lock.data, mode, 0, NULL), 0);
	buf_printf(&words, "pid %ld\n", sys_process_id());
	assert_int_equal(sys_read_file(&text, pid.data, NULL), 0);
	assert_string_equal(text.data, words.data);
	assert_int_equal(sys_lockfile_holder(&nr, lock.data),
			 SYS_LOCKFILE_RUNNING);
	assert_int_equal(nr, sys_process_id());
	assert_int_equal(
		sys_lockfile_create_mode(&second, lock.data, mode, 0, &err),
		ERR_DENIED);
	buf_reset(&words);
	buf_printf(&words,
		   "Unable to create '%s': File exists.\n\n"
		   "Process %ld took this lock, and a process with that "
		   "number runs now.",
		   lock.data, nr);
	assert_memory_equal(err.msg, words.data, words.len);
	assert_int_equal(sys_tempfile_commit(&held, done.data, none, NULL), 0);
	assert_false(sys_exists(pid.data));
	assert_int_equal(
		sys_lockfile_create_mode(&held, lock.data, mode, 0, NULL), 0);
	assert_true(sys_exists(pid.data));
	sys_tempfile_abort(&held);
	assert_false(sys_exists(pid.data));
	assert_false(sys_exists(lock.data));
	assert_int_equal(sys_lockfile_create(&held, lock.data, 0, NULL), 0);
	assert_false(sys_exists(pid.data));
	sys_tempfile_abort(&held);
	buf_release(&lock);
	buf_release(&pid);
	buf_release(&done);
	buf_release(&words);
	buf_release(&text);
	tmprepo_release(&t);
}

/*
 * Reads PID files of three kinds: with the number of a running process, with
 * the number of a process that does not run, and without a valid number.
 */
static void test_holder(void **state)
{
	static const struct {
		const char *text;
		enum sys_lockfile_holder holder;
	} cases[] = {
		{"pid 1\n", SYS_LOCKFILE_RUNNING},
		{"pid 1", SYS_LOCKFILE_UNKNOWN},
		{"pid 99999999\n", SYS_LOCKFILE_GONE},
		{"pid 99999999\nhost x\n", SYS_LOCKFILE_UNKNOWN},
		{"pid 0\n", SYS_LOCKFILE_UNKNOWN},
		{"pid -1\n", SYS_LOCKFILE_UNKNOWN},
		{"pid \n", SYS_LOCKFILE_UNKNOWN},
		{"1\n", SYS_LOCKFILE_UNKNOWN},
		{"", SYS_LOCKFILE_UNKNOWN},
	};
	struct buf lock = BUF_INIT, pid = BUF_INIT, words = BUF_INIT;
	struct tmprepo t;
	long nr;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&lock, "%s/x.lock", t.dir);
	buf_printf(&pid, "%s/x~pid.lock", t.dir);
	write_text(lock.data, "");
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		write_text(pid.data, cases[i].text);
		assert_int_equal(sys_lockfile_holder(&nr, lock.data),
				 cases[i].holder);
		assert_int_equal(nr > 0,
				 cases[i].holder != SYS_LOCKFILE_UNKNOWN);
	}
	write_text(pid.data, "pid 99999999\n");
	assert_int_equal(sys_lockfile_describe(&words, lock.data), 0);
	assert_non_null(strstr(words.data, "no process with that number"));
	assert_int_equal(sys_lockfile_remove(lock.data, NULL), 0);
	assert_false(sys_exists(lock.data) || sys_exists(pid.data));
	assert_int_equal(sys_lockfile_remove(lock.data, NULL), 0);
	assert_int_equal(sys_lockfile_remove(t.dir, NULL), ERR_INVALID);
	buf_release(&lock);
	buf_release(&pid);
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
		cmocka_unit_test(test_pid_file),
		cmocka_unit_test(test_holder),
		cmocka_unit_test(test_no_directory),
		cmocka_unit_test(test_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
