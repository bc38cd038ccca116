/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/thread.c, which runs tasks in threads: each task runs once. If
 * tasks fail, the error is that of the task with the lowest number. Also tests
 * locks that processes share: a process that dies while it holds a lock does
 * not block the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/thread.h"
#include "sys/clock.h"
#include "sys/process.h"
#include "t/unit/emulated.h"

#define TASKS 10000

struct record {
	atomic_uint runs[TASKS];
	unsigned threads;
	/* Number of the first task that fails. All later tasks fail, too. */
	size_t fail_from;
};

static int run(void *ctx, unsigned thread_nr, size_t task_nr, struct error *err)
{
	struct record *r = ctx;

	atomic_fetch_add(&r->runs[task_nr], 1);
	if (thread_nr >= r->threads)
		return error_set(err, ERR_INVALID, "thread %u", thread_nr);
	if (task_nr >= r->fail_from)
		return error_set(err, ERR_CORRUPT, "task %zu", task_nr);
	return 0;
}

static void each_task_runs_once(void **state)
{
	static const unsigned threads[] = {0, 1, 2, 5, 16};

	for (size_t t = 0; t < 5; t++) {
		static struct record r;

		memset(&r, 0, sizeof(r));
		r.threads = threads[t] ? threads[t] : 1;
		r.fail_from = TASKS;
		assert_int_equal(sys_parallel(threads[t], TASKS, run, &r, NULL),
				 0);
		for (size_t i = 0; i < TASKS; i++)
			assert_int_equal(r.runs[i], 1);
	}
}

static void few_tasks_and_none(void **state)
{
	static struct record r;

	r.threads = 3;
	r.fail_from = TASKS;
	assert_int_equal(sys_parallel(8, 0, run, &r, NULL), 0);
	assert_int_equal(r.runs[0], 0);
	assert_int_equal(sys_parallel(8, 3, run, &r, NULL), 0);
	assert_int_equal(r.runs[0] + r.runs[1] + r.runs[2], 3);
	assert_int_equal(r.runs[3], 0);
}

static void the_lowest_failure_is_reported(void **state)
{
	for (int i = 0; i < 50; i++) {
		static struct record r;
		struct error err = ERROR_INIT;

		memset(&r, 0, sizeof(r));
		r.threads = 4;
		r.fail_from = 100;
		assert_int_equal(sys_parallel(4, TASKS, run, &r, &err),
				 ERR_CORRUPT);
		assert_string_equal(err.msg, "task 100");
		/*
		 * Tasks start in ascending order. So all tasks before the
		 * failed one must have run.
		 */
		for (size_t task = 0; task <= 100; task++)
			assert_int_equal(r.runs[task], 1);
		assert_int_equal(r.runs[TASKS - 1], 0);
	}
}

static void there_is_a_processor(void **state)
{
	assert_true(sys_cpu_nr() >= 1);
}

/*
 * A loop runs each task once, either in one of its threads or in the thread
 * that calls sys_loop_finish(). The error of a loop is that of the first failed
 * task.
 */
static void a_loop_goes_on_meanwhile(void **state)
{
	for (unsigned threads = 0; threads < 6; threads++) {
		static struct record r;
		struct error err = ERROR_INIT;
		struct sys_loop *loop;

		memset(&r, 0, sizeof(r));
		r.threads = threads + 1;
		r.fail_from = threads == 5 ? 100 : TASKS;
		assert_int_equal(
			sys_loop_start(&loop, threads, TASKS, run, &r, NULL),
			0);
		if (threads == 5) {
			assert_int_equal(sys_loop_finish(loop, &err),
					 ERR_CORRUPT);
			assert_string_equal(err.msg, "task 100");
			continue;
		}
		assert_int_equal(sys_loop_finish(loop, NULL), 0);
		for (size_t i = 0; i < TASKS; i++)
			assert_int_equal(r.runs[i], 1);
	}
	assert_int_equal(sys_loop_finish(NULL, NULL), 0);
}

static void a_loop_is_cancelled(void **state)
{
	static struct record r;
	struct sys_loop *loop;

	r.threads = 3;
	r.fail_from = TASKS;
	assert_int_equal(sys_loop_start(&loop, 3, TASKS, run, &r, NULL), 0);
	sys_loop_cancel(loop);
	for (size_t i = 1; i < TASKS; i++)
		assert_true(r.runs[i] <= r.runs[i - 1]);
	/*
	 * With one thread, tasks run only in sys_loop_finish(). The loop is
	 * cancelled before that, so no task has run.
	 */
	memset(&r, 0, sizeof(r));
	assert_int_equal(sys_loop_start(&loop, 1, TASKS, run, &r, NULL), 0);
	sys_loop_cancel(loop);
	assert_int_equal(r.runs[0], 0);
	sys_loop_cancel(NULL);
}

/*
 * The main function of a thread. A thread starts with the priority of its
 * creator. If the thread changes its own priority, its creator keeps the old
 * one.
 */
static void *be_nice(void *arg)
{
	int usual = *(int *)arg;
	pthread_t child;

	assert_int_equal(sys_thread_nice(), usual);
	assert_true(sys_thread_set_nice(usual));
	if (usual < 18) {
		int less = 18;

		assert_true(sys_thread_set_nice(18));
		assert_int_equal(sys_thread_nice(), 18);
		assert_int_equal(sys_thread_start(&child, be_nice, &less), 0);
		sys_thread_join(child);
	}
	return NULL;
}

static void threads_have_priorities(void **state)
{
	int usual = sys_thread_nice();
	pthread_t thread;

	assert_int_equal(sys_thread_start(&thread, be_nice, &usual), 0);
	sys_thread_join(thread);
	assert_int_equal(sys_thread_nice(), usual);
}

#define SECOND_NS UINT64_C(1000000000)

struct memory {
	struct sys_shared_lock lock;
	atomic_uint word, done;
};

static struct memory *new_memory(void)
{
	struct memory *m = sys_memory_shared(sizeof(*m));

	assert_non_null(m);
	assert_int_equal(sys_shared_lock_init(&m->lock), 0);
	return m;
}

/* Waits until the word differs from `value`, for at most a minute. */
static void await(atomic_uint *word, unsigned value)
{
	uint64_t end = sys_clock_ns() + 60 * SECOND_NS;

	while (atomic_load(word) == value && sys_clock_ns() < end)
		sys_word_wait(word, value, SECOND_NS);
	assert_int_not_equal(atomic_load(word), value);
}

static void test_owner_dies(void **state)
{
	struct memory *m;
	pid_t pid;

	if (!has_robust_locks())
		return;
	m = new_memory();
	pid = fork();
	if (!pid) {
		sys_shared_lock_take(&m->lock);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(sys_shared_lock_take(&m->lock));
	sys_shared_lock_give(&m->lock);
	assert_false(sys_shared_lock_take(&m->lock));
	sys_shared_lock_give(&m->lock);
	sys_memory_unshare(m, sizeof(*m));
}

static void test_lock_excludes(void **state)
{
	struct memory *m = new_memory();
	pid_t pids[4];
	unsigned both = 0;

	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		for (int k = 0; !pids[i] && k < 2000; k++) {
			sys_shared_lock_take(&m->lock);
			if (atomic_fetch_add(&m->word, 1))
				_exit(1);
			atomic_fetch_sub(&m->word, 1);
			sys_shared_lock_give(&m->lock);
		}
		if (!pids[i])
			_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		both += status != 0;
	}
	assert_int_equal(both, 0);
	sys_memory_unshare(m, sizeof(*m));
}

static void test_word(void **state)
{
	struct memory *m = new_memory();
	uint64_t start;
	pid_t pid = fork();

	if (!pid) {
		await(&m->word, 0);
		atomic_store(&m->done, 1);
		sys_word_wake(&m->done);
		_exit(0);
	}
	atomic_store(&m->word, 7);
	sys_word_wake(&m->word);
	await(&m->done, 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/*
	 * sys_word_wait() returns immediately if the word has another value
	 * than expected. If the word has the expected value, the call waits
	 * until the end of the time limit.
	 */
	sys_word_wait(&m->word, 8, 60 * SECOND_NS);
	start = sys_clock_ns();
	sys_word_wait(&m->word, 7, SECOND_NS / 100);
	assert_true(sys_clock_ns() - start < 60 * SECOND_NS);
	sys_memory_unshare(m, sizeof(*m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_task_runs_once),
		cmocka_unit_test(few_tasks_and_none),
		cmocka_unit_test(the_lowest_failure_is_reported),
		cmocka_unit_test(there_is_a_processor),
		cmocka_unit_test(threads_have_priorities),
		cmocka_unit_test(a_loop_goes_on_meanwhile),
		cmocka_unit_test(a_loop_is_cancelled),
		cmocka_unit_test(test_owner_dies),
		cmocka_unit_test(test_lock_excludes),
		cmocka_unit_test(test_word),
	};

	return cmocka_run_group_tests_name("thread", tests, NULL, NULL);
}
