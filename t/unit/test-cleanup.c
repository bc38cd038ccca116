/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/cleanup.c, which removes temporary files when a signal ends the
 * process. They prove that no temporary file remains and no finished file is
 * lost, at whatever moment the signal comes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempdir.h"
#include "sys/tempfile.h"
#include "sys/thread.h"
#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

/*
 * A function that a child runs in the directory `dir` before it waits for the
 * signal.
 */
typedef void (*child_fn)(const char *dir);

static void say(const char *word)
{
	if (write(STDOUT_FILENO, word, strlen(word)) < 0)
		_exit(1);
}

/*
 * Runs fn(dir) in a child process. When the child says that it is ready, waits
 * for `delay_ns` and sends the signal. Returns the status from waitpid().
 */
static int end_child(child_fn fn, const char *dir, int signal_nr,
		     uint64_t delay_ns)
{
	int fds[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		/*
		 * The parent may ignore the signal, for example under nohup(1).
		 * The child inherits the ignored signal, so restore the default
		 * action.
		 */
		signal(signal_nr, SIG_DFL);
		sys_cleanup_arm();
		fn(dir);
		for (;;)
			pause();
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	sys_sleep_ns(delay_ns);
	kill(pid, signal_nr);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(fds[0]);
	return status;
}

static char *in(const char *dir, const char *name)
{
	static char path[4][512];
	static int nr;
	char *p = path[nr++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static int count_one(void *ctx, const char *name)
{
	(*(size_t *)ctx)++;
	return 0;
}

static size_t entries_of(const char *dir)
{
	size_t nr = 0;

	assert_int_equal(sys_dir_each(dir, count_one, &nr, NULL), 0);
	return nr;
}

static void make_all_kinds(const char *dir)
{
	struct sys_tempfile lock, done, old, given;
	struct sys_tempdir deep;

	sys_tempfile_create_exact(&lock, in(dir, "x.lock"), 0666, NULL);
	sys_tempfile_create_exact(&done, in(dir, "y.lock"), 0666, NULL);
	sys_tempfile_commit(&done, in(dir, "y"), SYS_FSYNC_NONE, NULL);
	/*
	 * The lock file y.lock was renamed to y. This symlink stands for a new
	 * file y.lock of another process.
	 */
	if (symlink("z", in(dir, "y.lock")) < 0)
		_exit(1);
	sys_tempfile_create(&old, dir, "tmp_", 0444, NULL);
	sys_tempfile_finish(&old, SYS_FSYNC_NONE, NULL);
	sys_tempdir_create(&deep, dir, "incoming-", NULL);
	sys_mkdir_p(in(deep.path, "a/b/c"), NULL);
	if (symlink(dir, in(deep.path, "a/up")) < 0)
		_exit(1);
	for (int i = 0; i < 300; i++) {
		char name[32];

		snprintf(name, sizeof(name), "a/b/%d", i);
		fclose(fopen(in(deep.path, name), "w"));
	}
	sys_tempfile_adopt(&given, in(dir, "given"), NULL);
	say(".");
}

static void test_removes(void **state)
{
	static const int signals[] = {SIGHUP,  SIGINT,  SIGPIPE, SIGQUIT,
				      SIGTERM, SIGXCPU, SIGXFSZ, SIGALRM};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	for (size_t i = 0; i < ARRAY_NR(signals); i++) {
		char *dir = repo_common_path(&t.repo, "d");
		int status;

		assert_int_equal(sys_mkdir_p(dir, NULL), 0);
		tmprepo_write(&t, "d/stays", "x");
		tmprepo_write(&t, "d/given", "x");
		status = end_child(make_all_kinds, dir, signals[i], 0);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), signals[i]);
		assert_true(sys_exists(in(dir, "stays")));
		assert_true(sys_exists(in(dir, "y")));
		assert_int_equal(entries_of(dir), 3);
		assert_int_equal(sys_tempdir_remove(dir, NULL), 0);
		free(dir);
	}
	tmprepo_release(&t);
}

static void turn_over(const char *dir)
{
	char target[512], lock[512];

	snprintf(target, sizeof(target), "%s/ref", dir);
	snprintf(lock, sizeof(lock), "%s/ref.lock", dir);
	for (int i = 0;; i++) {
		struct sys_tempfile tf, other;

		if (!i)
			say(".");
		sys_tempfile_create_exact(&tf, lock, 0666, NULL);
		sys_tempfile_create(&other, dir, "tmp_", 0666, NULL);
		sys_tempfile_write(&tf, "value", 5, NULL);
		sys_tempfile_commit(&tf, target, SYS_FSYNC_NONE, NULL);
		sys_tempfile_abort(&other);
	}
}

static int turn_task(void *ctx, unsigned thread_nr, size_t task_nr,
		     struct error *err)
{
	struct sys_tempfile tf;

	sys_tempfile_create(&tf, ctx, "tmp_", 0666, err);
	sys_tempfile_abort(&tf);
	return 0;
}

static void turn_in_threads(const char *dir)
{
	say(".");
	for (;;)
		sys_parallel(4, 1000, turn_task, (void *)dir, NULL);
}

/*
 * At whatever moment the signal comes, either the complete file exists, or no
 * file.
 */
static void test_any_moment(void **state)
{
	uint64_t seed = random_seed();
	struct tmprepo t;
	char *dir;

	tmprepo_init(&t, HASH_SHA1);
	dir = repo_common_path(&t.repo, "d");
	assert_int_equal(sys_mkdir_p(dir, NULL), 0);
	for (int i = 0; i < 60; i++) {
		struct buf value = BUF_INIT;

		tmprepo_write(&t, "d/ref", "value");
		end_child(i % 2 ? turn_over : turn_in_threads, dir, SIGTERM,
			  random_next(&seed) % 3000000);
		assert_int_equal(entries_of(dir), 1);
		assert_int_equal(sys_read_file(&value, in(dir, "ref"), NULL),
				 0);
		assert_string_equal(value.data, "value");
		buf_release(&value);
	}
	free(dir);
	tmprepo_release(&t);
}

static void hold_and_finish(const char *dir)
{
	struct sys_hold outer, inner;
	struct sys_tempfile tf;

	sys_hold_signals(&outer);
	say(".");
	sys_tempfile_create_exact(&tf, in(dir, "a.lock"), 0666, NULL);
	sys_hold_signals(&inner);
	sys_sleep_ns(20000000);
	sys_release_signals(&inner);
	sys_tempfile_commit(&tf, in(dir, "a"), SYS_FSYNC_NONE, NULL);
	sys_release_signals(&outer);
}

static void test_hold(void **state)
{
	struct tmprepo t;
	char *dir;
	int status;

	tmprepo_init(&t, HASH_SHA1);
	dir = repo_common_path(&t.repo, "d");
	assert_int_equal(sys_mkdir_p(dir, NULL), 0);
	status = end_child(hold_and_finish, dir, SIGINT, 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
	assert_true(sys_exists(in(dir, "a")));
	assert_int_equal(entries_of(dir), 1);
	free(dir);
	tmprepo_release(&t);
}

/* A process that has not called sys_cleanup_arm() does not catch signals. */
static void test_unarmed(void **state)
{
	struct sigaction act;
	struct sys_cleanup *entry;
	struct sys_hold hold;
	sigset_t set;

	assert_int_equal(sys_cleanup_new(&entry, SYS_CLEANUP_FILE, "x", NULL),
			 0);
	assert_null(entry);
	sys_cleanup_begin(&hold);
	sys_cleanup_add(entry);
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	assert_false(sigismember(&set, SIGTERM));
	sys_cleanup_end(&hold);
	sigaction(SIGTERM, NULL, &act);
	assert_true(act.sa_handler == SIG_DFL);
}

static void ignore_first(const char *dir)
{
	struct sys_tempfile tf;

	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	sys_cleanup_arm();
	sys_tempfile_create_exact(&tf, in(dir, "a.lock"), 0666, NULL);
	raise(SIGHUP);
	sys_tempfile_commit(&tf, in(dir, "a"), SYS_FSYNC_NONE, NULL);
	say(".");
}

/*
 * sys_cleanup_arm() does not catch a signal that is ignored, as under nohup(1).
 */
static void test_ignored(void **state)
{
	struct tmprepo t;
	char *dir;

	tmprepo_init(&t, HASH_SHA1);
	dir = repo_common_path(&t.repo, "d");
	assert_int_equal(sys_mkdir_p(dir, NULL), 0);
	end_child(ignore_first, dir, SIGTERM, 0);
	assert_true(sys_exists(in(dir, "a")));
	free(dir);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unarmed),
		cmocka_unit_test(test_removes),
		cmocka_unit_test(test_any_moment),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
