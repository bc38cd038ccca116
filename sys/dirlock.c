/* SPDX-License-Identifier: MIT */
/* Locks on directories, with flock(2). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include "sys/clock.h"
#include "sys/dirlock.h"
#include "sys/io.h"

#define NS_PER_MS 1000000
/* time between two attempts, in milliseconds */
#define STEP_MS 10

int sys_dirlock_take(const char *path, int64_t timeout_ms, struct error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return SYS_DIRLOCK_NONE;
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
	if (lock == ERR_DENIED && !sys_exists(path))
		lock = SYS_DIRLOCK_NONE;
	if (lock < 0 && err)
		*err = own;
	return lock;
}

void sys_dirlock_drop(int lock)
{
	if (lock >= 0 && lock != SYS_DIRLOCK_NONE)
		sys_close(lock);
}
