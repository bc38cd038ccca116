/* SPDX-License-Identifier: MIT */
/*
 * Threads and parallel loops. In a loop, each thread takes its next task by an
 * atomic counter.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/thread.h"

#define SECOND_NS UINT64_C(1000000000)

unsigned sys_cpu_nr(void)
{
	cpu_set_t set;
	int nr;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	nr = CPU_COUNT(&set);
	return nr > 0 ? (unsigned)nr : 1;
}

int sys_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	sigset_t set, before;
	int ret;

	/*
	 * A new thread inherits the set of blocked signals. So the signals are
	 * blocked in this thread before it starts the new one, and are
	 * unblocked in this thread afterwards.
	 */
	sys_cleanup_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	ret = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

void sys_thread_join(pthread_t thread)
{
	pthread_join(thread, NULL);
}

/*
 * Returns the nice value of this thread: on Linux, the process id 0 stands for
 * the calling thread.
 */
int sys_thread_nice(void)
{
	return getpriority(PRIO_PROCESS, 0);
}

bool sys_thread_set_nice(int nice)
{
	return sys_thread_nice() == nice || !setpriority(PRIO_PROCESS, 0, nice);
}

int sys_wake_init(pthread_cond_t *wake)
{
	pthread_condattr_t attr;
	int ret = pthread_condattr_init(&attr);

	if (ret)
		return ret;
	ret = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	if (!ret)
		ret = pthread_cond_init(wake, &attr);
	pthread_condattr_destroy(&attr);
	return ret;
}

int sys_wake_wait(pthread_cond_t *wake, pthread_mutex_t *lock, uint64_t ns)
{
	uint64_t end = sys_clock_ns() + ns;
	const struct timespec until = {(time_t)(end / SECOND_NS),
				       (long)(end % SECOND_NS)};

	return pthread_cond_timedwait(wake, lock, &until);
}

struct sys_loop {
	sys_task_fn fn;
	void *ctx;
	size_t task_nr;
	atomic_size_t next;
	/* protects the three fields below */
	pthread_mutex_t lock;
	size_t failed_task;
	int ret;
	struct error err;
	/* owned: one for each thread of the loop, except the calling thread */
	struct worker *workers;
	unsigned started;
};

struct worker {
	struct sys_loop *loop;
	unsigned thread_nr;
	pthread_t thread;
};

static void record_failure(struct sys_loop *loop, size_t task, int ret,
			   const struct error *err)
{
	pthread_mutex_lock(&loop->lock);
	if (!loop->ret || task < loop->failed_task) {
		loop->failed_task = task;
		loop->ret = ret;
		loop->err = *err;
	}
	pthread_mutex_unlock(&loop->lock);
	atomic_store(&loop->next, loop->task_nr);
}

static void *run_worker(void *arg)
{
	struct worker *worker = arg;
	struct sys_loop *loop = worker->loop;

	for (;;) {
		size_t task = atomic_fetch_add(&loop->next, 1);
		struct error err = ERROR_INIT;
		int ret;

		if (task >= loop->task_nr)
			return NULL;
		ret = loop->fn(loop->ctx, worker->thread_nr, task, &err);
		if (ret < 0)
			record_failure(loop, task, ret, &err);
	}
}

static int loop_start(struct sys_loop *loop, size_t worker_nr)
{
	if (worker_nr) {
		loop->workers = mem_calloc(worker_nr, sizeof(*loop->workers));
		if (!loop->workers)
			return ERR_NOMEM;
	}
	pthread_mutex_init(&loop->lock, NULL);
	for (unsigned i = 0; i < worker_nr; i++) {
		struct worker *worker = &loop->workers[i];

		worker->loop = loop;
		worker->thread_nr = i + 1;
		if (sys_thread_start(&worker->thread, run_worker, worker))
			break;
		loop->started++;
	}
	return 0;
}

/*
 * Runs the remaining tasks in the calling thread, and waits for the other
 * threads.
 */
static int loop_finish(struct sys_loop *loop, struct error *err)
{
	struct worker self = {.loop = loop};

	run_worker(&self);
	for (unsigned i = 0; i < loop->started; i++)
		pthread_join(loop->workers[i].thread, NULL);
	pthread_mutex_destroy(&loop->lock);
	free(loop->workers);
	if (loop->ret < 0 && err)
		*err = loop->err;
	return loop->ret;
}

int sys_parallel(unsigned threads, size_t task_nr, sys_task_fn fn, void *ctx,
		 struct error *err)
{
	struct sys_loop loop = {.fn = fn, .ctx = ctx, .task_nr = task_nr};
	size_t most = threads < task_nr ? threads : task_nr;

	return loop_start(&loop, most ? most - 1 : 0) < 0
		       ? error_nomem(err)
		       : loop_finish(&loop, err);
}

int sys_loop_start(struct sys_loop **out, unsigned threads, size_t task_nr,
		   sys_task_fn fn, void *ctx, struct error *err)
{
	struct sys_loop *loop = mem_calloc(1, sizeof(*loop));
	size_t others = threads ? threads - 1 : 0;

	*out = NULL;
	if (!loop)
		return error_nomem(err);
	loop->fn = fn;
	loop->ctx = ctx;
	loop->task_nr = task_nr;
	if (loop_start(loop, others < task_nr ? others : task_nr) < 0) {
		free(loop);
		return error_nomem(err);
	}
	*out = loop;
	return 0;
}

int sys_loop_finish(struct sys_loop *loop, struct error *err)
{
	int ret = loop ? loop_finish(loop, err) : 0;

	free(loop);
	return ret;
}

void sys_loop_cancel(struct sys_loop *loop)
{
	if (!loop)
		return;
	atomic_store(&loop->next, loop->task_nr);
	loop_finish(loop, NULL);
	free(loop);
}

int sys_shared_lock_init(struct sys_shared_lock *lock)
{
	pthread_mutexattr_t attr;
	int ret = pthread_mutexattr_init(&attr);

	if (ret)
		return ret;
	ret = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (!ret)
		ret = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (!ret)
		ret = pthread_mutex_init(&lock->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return ret;
}

bool sys_shared_lock_take(struct sys_shared_lock *lock)
{
	if (pthread_mutex_lock(&lock->mutex) != EOWNERDEAD)
		return false;
	pthread_mutex_consistent(&lock->mutex);
	return true;
}

void sys_shared_lock_give(struct sys_shared_lock *lock)
{
	pthread_mutex_unlock(&lock->mutex);
}

void sys_word_wait(atomic_uint *word, unsigned value, uint64_t ns)
{
	const struct timespec limit = {(time_t)(ns / SECOND_NS),
				       (long)(ns % SECOND_NS)};

	syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0);
}

void sys_word_wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
