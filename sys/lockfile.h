/* SPDX-License-Identifier: MIT */
/*
 * Lock files, named "<path>.lock". The process that creates the lock file may
 * change <path>: it renames the lock file to <path>, or removes <path>.
 *
 * If core.lockfilePid is true, each lock file has a PID file while the lock is
 * held. The PID file contains the number of the process that holds the lock:
 *
 * 	refs/heads/main.lock       the lock file
 * 	refs/heads/main~pid.lock   "pid <decimal number> LF"
 *
 * If the process is killed, both files stay. The PID file does not name the
 * host, and another process may have the number by now.
 */
#ifndef SYS_LOCKFILE_H
#define SYS_LOCKFILE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "sys/tempfile.h"

/*
 * Creates the lock file `path`, a name that ends in ".lock". While another
 * process has the lock, this function tries again for `timeout_ms` milliseconds
 * in growing intervals. 0 means one try; a negative value means no limit.
 *
 * Returns 0 with *lock open for writing. Otherwise *lock is inactive. Returns
 * ERR_DENIED if the lock is held, or ERR_IO for another reason
 * (err->sys_errno). The message of ERR_DENIED is "Unable to create '<path>':
 * File exists.", an empty line, and the text of sys_lockfile_describe().
 */
int sys_lockfile_create(struct sys_tempfile *lock, const char *path,
			int64_t timeout_ms, struct error *err);

/*
 * Works like sys_lockfile_create(), but the file gets `mode` minus the umask
 * instead of 0666. The mode may contain permissions for a shared repository
 * (sys/share.h). If it contains SYS_SHARE_PID, a PID file is written too. The
 * PID file is removed when the lock file is removed, and before the lock file
 * is renamed. If the PID file cannot be written, the lock is taken without it.
 */
int sys_lockfile_create_mode(struct sys_tempfile *lock, const char *path,
			     unsigned mode, int64_t timeout_ms,
			     struct error *err);

/*
 * Locks the file `path`: creates "<target>.lock", where the target is the file
 * that `path` leads to through symbolic links. So the links stay when the
 * target is replaced, and two repositories that link to one file exclude each
 * other. The target may be missing. The other parameters and the results are
 * those of sys_lockfile_create_mode(). A loop of links is ERR_IO (ELOOP).
 *
 * On success, *target is the path of the target, which the caller frees with
 * free(). Commit the lock to this path. After an error, *target is NULL.
 */
int sys_lockfile_follow(struct sys_tempfile *lock, char **target,
			const char *path, unsigned mode, int64_t timeout_ms,
			struct error *err);

/* The state of the process that the PID file of a lock names. */
enum sys_lockfile_holder {
	/* there is no valid PID file */
	SYS_LOCKFILE_UNKNOWN,
	/* a process of this host has the process id in the PID file */
	SYS_LOCKFILE_RUNNING,
	/* no process of this host has the process id in the PID file */
	SYS_LOCKFILE_GONE,
};

/*
 * Reads the PID file of the lock file `path`. *pid is 0 if the result is
 * SYS_LOCKFILE_UNKNOWN.
 */
enum sys_lockfile_holder sys_lockfile_holder(long *pid, const char *path);

/*
 * Appends advice for the user about the lock file `path`, which another process
 * holds. If there is a PID file, the advice names the process, and tells
 * whether the process still runs. The advice has one or two lines, without a
 * final newline. Returns 0 or ERR_NOMEM.
 */
int sys_lockfile_describe(struct buf *out, const char *path);

/*
 * Removes a lock file that another process has left, and its PID file. Returns
 * 0, also if neither file exists, or a negative error code.
 */
int sys_lockfile_remove(const char *path, struct error *err);

#endif
