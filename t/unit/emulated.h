/* SPDX-License-Identifier: MIT */
/*
 * Features that QEMU's emulation of user programs may lack. A test that needs a
 * missing feature is skipped, because it would fail or never end.
 */
#ifndef T_UNIT_EMULATED_H
#define T_UNIT_EMULATED_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Returns whether the system tells the next owner of a lock that the previous
 * owner has died (set_robust_list(2)).
 */
static inline bool has_robust_locks(void)
{
	void *head;
	size_t len;

	return !syscall(SYS_get_robust_list, 0, &head, &len);
}

/* Returns whether a descriptor can stand for a process (pidfd_open(2)). */
static inline bool has_process_fds(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * Returns whether posix_spawn() fails if the program does not exist. For this,
 * the child must write the error to the memory of its parent. Without this
 * feature, the child exits with 127.
 */
static inline bool has_spawn_errors(void)
{
	char name[] = "/nonexistent/program", *argv[] = {name, NULL};
	pid_t pid;

	if (posix_spawn(&pid, name, NULL, NULL, argv, NULL))
		return true;
	waitpid(pid, NULL, 0);
	return false;
}

#endif
