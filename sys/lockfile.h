/* SPDX-License-Identifier: MIT */
/*
 * Lock files, named "<path>.lock". The process that creates the lock file may
 * change <path>: it renames the lock file to <path>, or removes <path>.
 */
#ifndef SYS_LOCKFILE_H
#define SYS_LOCKFILE_H

#include <stdint.h>

#include "base/error.h"
#include "sys/tempfile.h"

/*
 * Creates the lock file `path`, a name that ends in ".lock". While another
 * process has the lock, this function tries again for `timeout_ms` milliseconds
 * in growing intervals. 0 means one try; a negative value means no limit.
 *
 * Returns 0 with *lock open for writing. Otherwise *lock is inactive. Returns
 * ERR_DENIED if the lock is held ("Unable to create '<path>': File exists."),
 * or ERR_IO for another reason (err->sys_errno).
 */
int sys_lockfile_create(struct sys_tempfile *lock, const char *path,
			int64_t timeout_ms, struct error *err);

/*
 * Works like sys_lockfile_create() with `mode` minus the umask instead of 0666.
 * The mode may contain a share (sys/share.h).
 */
int sys_lockfile_create_mode(struct sys_tempfile *lock, const char *path,
			     unsigned mode, int64_t timeout_ms,
			     struct error *err);

#endif
