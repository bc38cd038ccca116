/* SPDX-License-Identifier: MIT */
/*
 * Locks on single bytes of a file that exists only for these locks. The number
 * of a lock is the offset of its byte. A lock belongs to the open file and ends
 * when the file is closed. So a killed process leaves no lock behind.
 *
 * The locks are advisory. The file must never be removed. A process that has
 * the removed file open and a process that creates a new file would not see
 * each other's locks.
 */
#ifndef SYS_RANGELOCK_H
#define SYS_RANGELOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Opens the lock file that has one byte for each lock, and creates the file if
 * needed. Returns a descriptor (for sys_close()) or ERR_IO.
 */
int sys_rangelock_open(const char *path, struct error *err);

/*
 * Works like sys_rangelock_open(), but only the user of the process gets
 * permissions for a file that is created. So no other user can hold a lock.
 */
int sys_rangelock_open_private(const char *path, struct error *err);

/*
 * Takes lock `nr`, shared or exclusive. If the same descriptor already has the
 * lock in the other mode, the mode changes. If `wait` is true, waits while
 * another descriptor holds the lock. Returns 0, ERR_DENIED if the lock is taken
 * and `wait` is false, or ERR_IO.
 */
int sys_rangelock_take(int fd, uint32_t nr, bool shared, bool wait,
		       struct error *err);

/*
 * Returns whether lock `nr` is held through another descriptor, shared or
 * exclusive. If the system cannot tell, returns false.
 */
bool sys_rangelock_is_taken(int fd, uint32_t nr);

/*
 * Releases lock `nr`. Does nothing if the descriptor does not hold this lock.
 */
void sys_rangelock_drop(int fd, uint32_t nr);

/*
 * Takes all locks of the file exclusively, without waiting. Returns 0,
 * ERR_DENIED if any lock is held through another descriptor, or ERR_IO.
 */
int sys_rangelock_take_all(int fd, struct error *err);

/* Releases all locks that the descriptor holds. */
void sys_rangelock_drop_all(int fd);

#endif
