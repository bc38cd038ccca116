/* SPDX-License-Identifier: MIT */
/*
 * Lock files, "<path>.lock": whoever creates one may change <path>, by
 * renaming it onto that name or by removing it.
 */
#ifndef SYS_LOCKFILE_H
#define SYS_LOCKFILE_H

#include <stdint.h>

#include "base/error.h"
#include "sys/tempfile.h"

/*
 * Create the lock file of this name (with its ".lock"). While someone else has
 * it, try again for `timeout_ms` milliseconds in growing intervals; 0: not at
 * all, negative: for ever. 0 with *lock open for writing, or an error with
 * *lock inactive: ERR_DENIED when it is held ("Unable to create '<path>': File
 * exists."), ERR_IO for another reason (err->sys_errno).
 */
int sys_lockfile_create(struct sys_tempfile *lock, const char *path,
			int64_t timeout_ms, struct error *err);

/*
 * As above with mode `mode` less the umask, which may have a share
 * (sys/share.h), instead of 0666.
 */
int sys_lockfile_create_mode(struct sys_tempfile *lock, const char *path,
			     unsigned mode, int64_t timeout_ms,
			     struct error *err);

#endif
