/* SPDX-License-Identifier: MIT */
/*
 * Tests of plans/plan-private.c, the directory of plans of one server: the
 * directories of running servers and workers stay, and those of killed servers
 * are removed. Servers are child processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plans/plan-dir.h"
#include "plans/plan-private.h"
#include "sys/rangelock.h"
#include "t/unit/tmprepo.h"

static bool has_lock(const struct plan_private *p)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/owner", p->path);
	return sys_exists(path);
}

static void test_open_close(void **state)
{
	struct plan_private p;
	struct plan_dir *dir;
	struct error warning;
	struct tmprepo t;
	struct stat st;
	char *path;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(plan_private_open(&p, t.dir, NULL), 0);
	assert_true(has_lock(&p));
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	/* Plans (cached responses) can be stored in the new directory. */
	assert_int_equal(plan_dir_new(&dir, p.path, 1 << 20, &warning, NULL),
			 0);
	assert_int_equal(warning.code, 0);
	plan_dir_free(dir);
	path = strdup(p.path);
	plan_private_close(&p);
	assert_null(p.path);
	assert_false(sys_exists(path));
	plan_private_close(&p);
	free(path);
	tmprepo_release(&t);
}

static void test_no_parent(void **state)
{
	struct error err = ERROR_INIT;
	struct plan_private p;

	(void)state;
	assert_int_equal(plan_private_open(&p, "/no/such", &err), ERR_IO);
	assert_non_null(strstr(err.msg, "/no/such"));
	assert_null(p.path);
	plan_private_close(&p);
}

/*
 * Starts a server: a child process that makes a plan directory, writes the path
 * of this directory to a pipe, and waits to be killed. If `has_worker`, the
 * server forks a worker, and *worker is set to the worker's process id. Returns
 * the process id of the server.
 */
static pid_t start(char path[512], pid_t *worker, bool has_worker,
		   const char *parent)
{
	struct plan_private p;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		pid_t child = 0;
		char line[512] = "";

		if (plan_private_open(&p, parent, NULL) < 0)
			_exit(1);
		if (has_worker)
			child = fork();
		if (has_worker && !child)
			/*
			 * The worker is a forked child and inherits the lock of
			 * the directory. So the directory stays locked until
			 * the worker is killed.
			 */
			for (;;)
				pause();
		snprintf(line, sizeof(line), "%s", p.path);
		if (write(fds[1], &child, sizeof(child)) < 0 ||
		    write(fds[1], line, sizeof(line)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], worker, sizeof(*worker)),
			 sizeof(*worker));
	assert_int_equal(read(fds[0], path, 512), 512);
	close(fds[0]);
	return pid;
}

static void kill_child(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A server does not remove the directory of another running server. */
static void test_two_servers(void **state)
{
	struct plan_private p;
	struct tmprepo t;
	char other[512];
	pid_t pid, worker;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	pid = start(other, &worker, false, t.dir);
	assert_int_equal(plan_private_open(&p, t.dir, NULL), 0);
	assert_true(sys_exists(other));
	assert_string_not_equal(other, p.path);
	plan_private_close(&p);
	assert_true(sys_exists(other));
	kill_child(pid);
	tmprepo_release(&t);
}

static void test_killed_server(void **state)
{
	struct plan_private p;
	struct tmprepo t;
	char other[512];
	pid_t pid, worker;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	pid = start(other, &worker, false, t.dir);
	kill_child(pid);
	assert_true(sys_exists(other));
	assert_int_equal(plan_private_open(&p, t.dir, NULL), 0);
	assert_false(sys_exists(other));
	assert_true(has_lock(&p));
	plan_private_close(&p);
	tmprepo_release(&t);
}

/*
 * A server was killed, but its worker still runs and uses the plan directory of
 * the server. So another server must not remove this directory.
 */
static void test_worker_of_killed_server(void **state)
{
	struct plan_private p;
	struct tmprepo t;
	char other[512];
	pid_t pid, worker;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	pid = start(other, &worker, true, t.dir);
	kill_child(pid);
	assert_int_equal(plan_private_open(&p, t.dir, NULL), 0);
	assert_true(sys_exists(other));
	plan_private_close(&p);
	assert_int_equal(kill(worker, SIGKILL), 0);
	tmprepo_release(&t);
}

static void test_forked_process(void **state)
{
	struct plan_private p;
	struct tmprepo t;
	int status;
	pid_t pid;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(plan_private_open(&p, t.dir, NULL), 0);
	pid = fork();
	if (!pid) {
		plan_private_close(&p);
		_exit(p.path != NULL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(has_lock(&p));
	plan_private_close(&p);
	tmprepo_release(&t);
}

/*
 * A server removes directories of plans (cached responses) that killed servers
 * have left behind. It must not remove other files with such names, nor a
 * directory that another server is just making.
 */
static void test_strangers(void **state)
{
	static const char *const names[] = {"other", "gitreachd-plans-file",
					    "gitreachd-plans-link",
					    "gitreachd-plans-new"};
	struct plan_private p;
	struct tmprepo t;
	char path[512], target[512];

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write_len(&t, "other/owner", "", 0);
	tmprepo_write_len(&t, "gitreachd-plans-file", "", 0);
	snprintf(path, sizeof(path), "%s/gitreachd-plans-new", t.dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(target, sizeof(target), "%s/other", t.dir);
	snprintf(path, sizeof(path), "%s/gitreachd-plans-link", t.dir);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(plan_private_open(&p, t.dir, NULL), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", t.dir, names[i]);
		assert_true(sys_exists(path));
	}
	snprintf(path, sizeof(path), "%s/other/owner", t.dir);
	assert_true(sys_exists(path));
	plan_private_close(&p);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_close),
		cmocka_unit_test(test_no_parent),
		cmocka_unit_test(test_two_servers),
		cmocka_unit_test(test_killed_server),
		cmocka_unit_test(test_worker_of_killed_server),
		cmocka_unit_test(test_forked_process),
		cmocka_unit_test(test_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
