/* SPDX-License-Identifier: MIT */
/* A parallel loop: an atomic counter hands out tasks. */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/mem.h"
#include "sys/thread.h"

unsigned sys_cpu_nr(void)
{
	cpu_set_t set;
	int nr;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	nr = CPU_COUNT(&set);
	return nr > 0 ? (unsigned)nr : 1;
}

struct loop {
	sys_task_fn fn;
	void *ctx;
	size_t task_nr;
	atomic_size_t next;
	pthread_mutex_t lock; /* guards the three below */
	size_t failed_task;
	int ret;
	struct error err;
};

struct worker {
	struct loop *loop;
	unsigned thread_nr;
	pthread_t thread;
};

static void record_failure(struct loop *loop, size_t task, int ret,
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
	struct loop *loop = worker->loop;

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

static unsigned start_workers(struct worker *workers, unsigned threads,
			      struct loop *loop)
{
	unsigned started = 0;

	for (unsigned i = 0; i + 1 < threads; i++) {
		workers[i].loop = loop;
		workers[i].thread_nr = i + 1;
		if (pthread_create(&workers[i].thread, NULL, run_worker,
				   &workers[i]))
			break;
		started++;
	}
	return started;
}

int sys_parallel(unsigned threads, size_t task_nr, sys_task_fn fn, void *ctx,
		 struct error *err)
{
	struct loop loop = {.fn = fn, .ctx = ctx, .task_nr = task_nr};
	struct worker self = {.loop = &loop};
	struct worker *workers = NULL;
	unsigned started = 0;

	if (threads > task_nr)
		threads = (unsigned)task_nr;
	if (threads > 1) {
		workers = mem_calloc(threads - 1, sizeof(*workers));
		if (!workers)
			return error_nomem(err);
	}
	pthread_mutex_init(&loop.lock, NULL);
	started = start_workers(workers, threads, &loop);
	run_worker(&self);
	for (unsigned i = 0; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_mutex_destroy(&loop.lock);
	free(workers);
	if (loop.ret < 0 && err)
		*err = loop.err;
	return loop.ret;
}
