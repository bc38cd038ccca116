/* SPDX-License-Identifier: MIT */
/*
 * Threads, and parallel loops over tasks.
 *
 * Signals that end the process are handled by its main thread. The threads that
 * this file starts block these signals (sys/cleanup.h), also in a program that
 * uses the library.
 */
#ifndef SYS_THREAD_H
#define SYS_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Returns the number of processors that this process may use, at least 1. */
unsigned sys_cpu_nr(void);

/*
 * Works like pthread_create(), but the new thread blocks the signals of
 * sys/cleanup.h. Returns 0 or an error number.
 */
int sys_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg);

/* Waits until a thread has ended. */
void sys_thread_join(pthread_t thread);

/*
 * Returns the nice value of the calling thread: its priority when threads
 * compete for processors, from -20 (first) to 19 (last). New threads inherit
 * it.
 */
int sys_thread_nice(void);

/*
 * Sets the nice value of the calling thread. Returns whether the thread has
 * this value now. A greater value is always possible; a smaller one needs a
 * privilege that most servers do not have.
 */
bool sys_thread_set_nice(int nice);

/*
 * Initialises a condition variable for sys_wake_wait(). Returns 0 or an error
 * number.
 */
int sys_wake_init(pthread_cond_t *wake);

/*
 * Works like pthread_cond_timedwait(), up to `ns` nanoseconds from now. Setting
 * the system's time of day does not change the length of the wait. Returns 0 or
 * ETIMEDOUT.
 */
int sys_wake_wait(pthread_cond_t *wake, pthread_mutex_t *lock, uint64_t ns);

/*
 * One task of a parallel loop. `thread_nr` in [0, threads) identifies the
 * thread, so that per-thread state can be in an array. A negative result stops
 * the loop.
 */
typedef int (*sys_task_fn)(void *ctx, unsigned thread_nr, size_t task_nr,
			   struct error *err);

/*
 * Runs each of the tasks 0..task_nr-1 once. Tasks start in ascending order, in
 * `threads` threads; the calling thread is thread 0. If there are fewer tasks
 * than threads, or some threads cannot be started, fewer threads are used.
 * Returns 0, or the error of the failed task with the lowest number.
 */
int sys_parallel(unsigned threads, size_t task_nr, sys_task_fn fn, void *ctx,
		 struct error *err);

/* A parallel loop that runs while the calling thread does other work. */
struct sys_loop;

/*
 * Starts a loop like sys_parallel() in `threads` - 1 new threads. The calling
 * thread takes part only in sys_loop_finish(). The caller passes *out to
 * sys_loop_finish() or sys_loop_cancel(). Returns 0 or ERR_NOMEM.
 */
int sys_loop_start(struct sys_loop **out, unsigned threads, size_t task_nr,
		   sys_task_fn fn, void *ctx, struct error *err);

/*
 * Runs tasks in the calling thread, too, until all tasks are done, and frees
 * the loop. Returns 0, also if `loop` is NULL, or the error of the failed task
 * with the lowest number.
 */
int sys_loop_finish(struct sys_loop *loop, struct error *err);

/*
 * Lets no further task start, waits for those that are running, and frees the
 * loop. `loop` may be NULL.
 */
void sys_loop_cancel(struct sys_loop *loop);

/*
 * Locks and waiting, in memory that processes share (sys_memory_shared()). A
 * process may be killed at any time:
 * - If the process held a lock, another process can take the lock, and learns
 *   that the owner died.
 * - If the process was waiting, the other waiting processes are not affected.
 *   Condition variables of pthreads do not have this property.
 */

/* A mutex for threads of several processes. */
struct sys_shared_lock {
	pthread_mutex_t mutex;
};

/* Initialises a lock in shared memory. Returns 0 or an error number. */
int sys_shared_lock_init(struct sys_shared_lock *lock);

/*
 * Takes the lock. Returns true if the last owner died while it held the lock.
 * The fields that the lock guards may then be half changed, and the caller must
 * repair them.
 */
bool sys_shared_lock_take(struct sys_shared_lock *lock);
void sys_shared_lock_give(struct sys_shared_lock *lock);

/*
 * Waits while *word is `value`, up to `ns` nanoseconds. May return early, so
 * the caller compares *word again. Waiting costs no CPU time.
 */
void sys_word_wait(atomic_uint *word, unsigned value, uint64_t ns);

/* Wakes all threads that wait for a change of *word, in all processes. */
void sys_word_wake(atomic_uint *word);

#endif
