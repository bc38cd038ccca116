/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD that shortens waits: each wait for a condition
 * variable with a time limit ends after 10 ms at the latest. So a program does
 * not wait a minute before work that it does once a minute.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include "preload.h"

#define LIMIT_NS 10000000
#define SECOND_NS 1000000000

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict wake,
				  pthread_mutex_t *restrict lock,
				  const struct timespec *restrict until)
{
	int (*real)(pthread_cond_t *, pthread_mutex_t *,
		    const struct timespec *);
	struct timespec soon;

	*(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	/*
	 * `until` is a time of this clock, because sys_wake_init() sets the
	 * clock of each condition variable.
	 */
	clock_gettime(CLOCK_MONOTONIC, &soon);
	soon.tv_nsec += LIMIT_NS;
	if (soon.tv_nsec >= SECOND_NS) {
		soon.tv_nsec -= SECOND_NS;
		soon.tv_sec++;
	}
	if (until->tv_sec < soon.tv_sec ||
	    (until->tv_sec == soon.tv_sec && until->tv_nsec < soon.tv_nsec))
		soon = *until;
	return real(wake, lock, &soon);
}
