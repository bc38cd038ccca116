/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD with which the clock of a process can jump.
 *
 *	CLOCK_SHIFT=<file>  holds the number of seconds, in decimal, by which
 *	                    the clock of the process is ahead; negative: behind.
 *	                    The file is read each time. Without the file, the
 *	                    clock is right.
 *
 * Only the time of day is shifted. Monotonic clocks do not jump, and times of
 * files come from the kernel.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "preload.h"

static long long shift(void)
{
	const char *path = getenv("CLOCK_SHIFT");
	char text[32];
	ssize_t len;
	int fd;

	if (!path)
		return 0;
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	text[len < 0 ? 0 : len] = '\0';
	return strtoll(text, NULL, 10);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = (int)syscall(SYS_clock_gettime, clock, now);

	if (!ret && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += shift();
	return ret;
}

EXPORT time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

EXPORT int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec precise;

	clock_gettime(CLOCK_REALTIME, &precise);
	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return 0;
}
