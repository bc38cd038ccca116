/* SPDX-License-Identifier: MIT */
/*
 * Whether the system tells the next owner of a lock that the owner before has
 * died (set_robust_list(2)). QEMU's emulation of user programs does not. A test
 * that kills the owner of a shared lock would then wait without end.
 */
#ifndef T_UNIT_ROBUST_H
#define T_UNIT_ROBUST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline bool has_robust_locks(void)
{
	void *head;
	size_t len;

	return !syscall(SYS_get_robust_list, 0, &head, &len);
}

#endif
