/* SPDX-License-Identifier: MIT */
/*
 * Features that QEMU's emulation of user programs may lack. A test that needs a
 * missing feature would fail or never end. So such a test returns at once. Each
 * function of this header prints a line if its feature is missing.
 *
 * The tests do not call skip() of cmocka: it prints "not ok", which prove(1)
 * counts as a failure.
 */
#ifndef T_UNIT_EMULATED_H
#define T_UNIT_EMULATED_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool has_feature(bool is_here, const char *name)
{
	if (!is_here)
		printf("# skipped: there is no %s\n", name);
	return is_here;
}

/*
 * Returns whether the system tells the next owner of a lock that the previous
 * owner has died (set_robust_list(2)).
 */
static inline bool has_robust_locks(void)
{
	void *head;
	size_t len;

	return has_feature(!syscall(SYS_get_robust_list, 0, &head, &len),
			   "set_robust_list()");
}

/* Returns whether a descriptor can stand for a process (pidfd_open(2)). */
static inline bool has_process_fds(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd >= 0)
		close(fd);
	return has_feature(fd >= 0, "pidfd_open()");
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
	return has_feature(false, "error of posix_spawn()");
}

#endif
