/* SPDX-License-Identifier: MIT */
/*
 * Threads, and data-parallel loops over them.
 *
 * What ends a process is for its main thread to hear: the threads made here
 * have those signals blocked (sys/cleanup.h), in a library's host too.
 */
#ifndef SYS_THREAD_H
#define SYS_THREAD_H

#include <pthread.h>
#include <stddef.h>

#include "base/error.h"

/* Processors this process may run on; at least 1. */
unsigned sys_cpu_nr(void);

/* As pthread_create(). Returns 0 or an error number. */
int sys_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg);

/*
 * One task of a parallel loop. `thread_nr` in [0, threads) is stable for the
 * thread that runs it, so that per-thread state can live in an array. A
 * negative return stops the loop.
 */
typedef int (*sys_task_fn)(void *ctx, unsigned thread_nr, size_t task_nr,
			   struct error *err);

/*
 * Run tasks 0..task_nr-1, each once, handed out in ascending order to
 * `threads` threads (the calling one is thread 0; fewer are used when there
 * are fewer tasks, or when threads cannot be started). Returns 0, or the
 * error of the lowest failed task among those that ran.
 */
int sys_parallel(unsigned threads, size_t task_nr, sys_task_fn fn, void *ctx,
		 struct error *err);

/* A parallel loop that goes on while the calling thread does something else. */
struct sys_loop;

/*
 * Begin one as above, in all `threads` but the calling one. *out is for one of
 * the two below. 0 or ERR_NOMEM.
 */
int sys_loop_start(struct sys_loop **out, unsigned threads, size_t task_nr,
		   sys_task_fn fn, void *ctx, struct error *err);

/*
 * Join in, until all tasks are done; free. Returns as sys_parallel(); 0 for
 * NULL.
 */
int sys_loop_finish(struct sys_loop *loop, struct error *err);

/* Wait for the tasks that were begun, begin no others; free. NULL is nothing.
 */
void sys_loop_cancel(struct sys_loop *loop);

#endif
