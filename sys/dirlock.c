/* SPDX-License-Identifier: MIT */
/* Locks on directories, with flock(2). */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>

#include "sys/clock.h"
#include "sys/dirlock.h"
#include "sys/io.h"

#define NS_PER_MS 1000000
/* time between two attempts, in milliseconds */
#define STEP_MS 10
/* number of such times for which sys_dirlock_yield() leaves the lock free */
#define YIELD_STEPS 2

/*
 * Returns whether the last system call failed only because the process or the
 * system has too many open files, or no memory.
 */
static bool is_exhausted(void)
{
	return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
}

int sys_dirlock_take(const char *path, int64_t timeout_ms, struct error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return is_exhausted()
			       ? error_set_errno(err, "cannot open '%s'", path)
			       : SYS_DIRLOCK_NONE;
	for (int64_t waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0;) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK) {
			sys_close(fd);
			return SYS_DIRLOCK_NONE;
		}
		if (waited >= timeout_ms) {
			sys_close(fd);
			return error_set(err, ERR_DENIED,
					 "another process has locked '%s'",
					 path);
		}
		sys_sleep_ns(STEP_MS * NS_PER_MS);
		waited += STEP_MS;
	}
	return fd;
}

int sys_dirlock_take_for_pack(const char *path, int64_t timeout_ms,
			      struct error *err)
{
	char *dir = sys_parent(path);
	struct error own = ERROR_INIT;
	int lock = dir ? sys_dirlock_take(dir, timeout_ms, &own)
		       : error_nomem(&own);

	free(dir);
	if ((lock == ERR_DENIED || lock == ERR_IO) && !sys_exists(path))
		lock = SYS_DIRLOCK_NONE;
	if (lock < 0 && err)
		*err = own;
	return lock;
}

static bool is_held(int lock)
{
	return lock >= 0 && lock != SYS_DIRLOCK_NONE;
}

int sys_dirlock_yield(int lock, const char *path, int64_t timeout_ms,
		      struct error *err)
{
	sys_dirlock_drop(lock);
	/* Every process that waits tries once or more in this time. */
	if (is_held(lock))
		sys_sleep_ns(YIELD_STEPS * STEP_MS * NS_PER_MS);
	return sys_dirlock_take(path, timeout_ms, err);
}

void sys_dirlock_drop(int lock)
{
	if (is_held(lock))
		sys_close(lock);
}
