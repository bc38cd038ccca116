/* SPDX-License-Identifier: MIT */
/*
 * A lock on a directory. The lock has no file. The lock ends when its holder
 * closes the descriptor or exits, so a killed process leaves no lock behind.
 * The lock is advisory, and stock Git does not take it.
 */
#ifndef SYS_DIRLOCK_H
#define SYS_DIRLOCK_H

#include <stdint.h>

#include "base/error.h"

/*
 * Milliseconds to wait for the lock of a pack directory. A process holds this
 * lock while it removes packs, or loose objects that are also in packs; while
 * it gives a new pack its final name; and while it installs a multi-pack-index.
 * So no process relies on a file that another process removes at the same time.
 */
#define SYS_DIRLOCK_PACKS_MS 60000

/* The result of sys_dirlock_take() if the directory cannot be locked. */
#define SYS_DIRLOCK_NONE INT32_MAX

/*
 * Locks the directory `path`. If another descriptor has the lock, tries again
 * for `timeout_ms` milliseconds. A process must not take the lock twice,
 * because it would wait for itself.
 *
 * Returns a value for sys_dirlock_drop(). This value is SYS_DIRLOCK_NONE if the
 * file system has no such locks (some NFS mounts) or the directory cannot be
 * opened; the caller then works without the lock. Returns ERR_DENIED if another
 * descriptor still has the lock. Returns ERR_IO if the directory cannot be
 * opened now, because there are too many open files or no memory is left.
 */
int sys_dirlock_take(const char *path, int64_t timeout_ms, struct error *err);

/*
 * Locks the directory of the pack file `path` ("<dir>/pack-<hex>.pack") before
 * a new pack gets this name. The directory may already have a pack of this
 * name, and another process may be removing the stored pack. So this function
 * waits for `timeout_ms` milliseconds until the other process has removed its
 * packs.
 *
 * Returns like sys_dirlock_take(), with one difference: if the lock could not
 * be taken, but there is no file `path`, returns SYS_DIRLOCK_NONE, because no
 * process is removing this pack. Can also return ERR_NOMEM.
 */
int sys_dirlock_take_for_pack(const char *path, int64_t timeout_ms,
			      struct error *err);

/*
 * For a process that holds the lock of `path` for long: leaves the lock free
 * for a moment, so that a waiting process can take it. Then takes the lock
 * again as sys_dirlock_take() does. `lock` is the value for sys_dirlock_drop(),
 * and is invalid afterwards. If it is SYS_DIRLOCK_NONE, works like
 * sys_dirlock_take(). Returns like sys_dirlock_take(): after an error, this
 * process has no lock.
 */
int sys_dirlock_yield(int lock, const char *path, int64_t timeout_ms,
		      struct error *err);

/* Releases the lock. Ignores SYS_DIRLOCK_NONE and negative values. */
void sys_dirlock_drop(int lock);

#endif
