/* SPDX-License-Identifier: MIT */
/*
 * Permissions of files in a repository to which several users write
 * (core.sharedRepository).
 *
 * The code that makes a file or directory passes its mode, and the kernel
 * applies the umask. A mode may contain more than permission bits: a "share",
 * made by SYS_SHARE() or SYS_SHARE_EXACT(). The share is ORed into the mode, as
 * in `0444 | repo->share`. The share then changes the mode that the umask left:
 *
 *     bit 31..23   22    21      20 .. 12            11 .. 0
 *         unused   PID   exact   bits of the share   mode
 *
 *   SYS_SHARE(0660)        these bits are set, besides what the umask leaves
 *   SYS_SHARE_EXACT(0640)  the file has these bits and no others
 *
 * A file made without write permission gets no write permission. Directories,
 * and files that their owner may execute, get an x for each r. Directories that
 * the group may use get g+s, so that new files have the same group. Zero means
 * no share.
 *
 * The bit SYS_SHARE_PID has a meaning for lock files only: a file beside the
 * lock file names the process that holds it (sys/lockfile.h).
 */
#ifndef SYS_SHARE_H
#define SYS_SHARE_H

#include <stdbool.h>

#include "base/error.h"

#define SYS_SHARE(bits) ((unsigned)(bits) << 12)
#define SYS_SHARE_EXACT(bits) (SYS_SHARE(bits) | 1U << 21)

#define SYS_SHARE_PID (1U << 22)

/*
 * Returns the permission bits of core.sharedRepository, for instance 0660. They
 * are stored in the upper bits of a mode.
 */
#define SYS_SHARE_BITS(share) ((share) >> 12 & 0777U)

/*
 * Returns the permission bits of `mode`, for open(2). Leaves out the upper
 * bits, which have the value of core.sharedRepository.
 */
#define SYS_SHARE_MODE(mode) ((mode)&07777U)

/*
 * Returns the permissions that a file or directory should have. `mode` has the
 * permissions that remain after the umask. The upper bits of `share` are the
 * value of SYS_SHARE() or SYS_SHARE_EXACT() (see the picture at the top of this
 * file). The lower 12 bits of `share` are ignored.
 */
unsigned sys_share_mode(unsigned mode, unsigned share, bool is_dir);

/*
 * Applies a share (the permissions of a shared repository) to an open file or
 * directory. Does nothing if there is no share or the permissions are right
 * already. `path` is for messages. Returns 0 or ERR_IO.
 */
int sys_share_fd(int fd, unsigned share, const char *path, struct error *err);

/* Works like sys_share_fd() for a path. */
int sys_share_path(const char *path, unsigned share, struct error *err);

#endif
