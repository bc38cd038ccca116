/* SPDX-License-Identifier: MIT */
/* Locks and waiting, in memory that processes share. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys/shared.h"

#define SECOND_NS UINT64_C(1000000000)

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
