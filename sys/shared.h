/* SPDX-License-Identifier: MIT */
/*
 * Locks and waiting, in memory that processes share (sys_memory_shared()). A
 * process may be killed at any time:
 * - If the process held a lock, another process can take the lock, and learns
 *   that the owner died.
 * - If the process was waiting, the other waiting processes are not affected.
 *   Condition variables of pthreads do not have this property.
 */
#ifndef SYS_SHARED_H
#define SYS_SHARED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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
