/* SPDX-License-Identifier: MIT */
/*
 * Permissions of files in a repository that several users write to:
 * core.sharedRepository.
 *
 * Whoever makes a file or a directory gives its mode, to which the kernel
 * applies the umask. A mode may have more in it than permission bits: a
 * "share", from SYS_SHARE() or SYS_SHARE_EXACT(), ORed into it as in
 * `0444 | repo->share`. Then the umask has not the last word:
 *
 *     bit 31..22   21      20 .. 12            11 .. 0
 *         unused   exact   bits of the share   mode
 *
 *   SYS_SHARE(0660)        these bits are set, besides what the umask leaves
 *   SYS_SHARE_EXACT(0640)  the file has these bits and no others
 *
 * A file made without write permission gets none by it. Directories, and files
 * that their owner may execute, get an x for each r; directories that the group
 * may use pass it on (g+s). Zero is no share.
 */
#ifndef SYS_SHARE_H
#define SYS_SHARE_H

#include <stdbool.h>

#include "base/error.h"

#define SYS_SHARE(bits) ((unsigned)(bits) << 12)
#define SYS_SHARE_EXACT(bits) (SYS_SHARE(bits) | 1U << 21)

/* The bits of a share. */
#define SYS_SHARE_BITS(share) ((share) >> 12 & 0777U)

/* The permission bits of a mode, for open(2). */
#define SYS_SHARE_MODE(mode) ((mode)&07777U)

/*
 * What becomes of `mode`, as the umask left it, by the share in `share` (a mode
 * with a share in it: its other bits do not count).
 */
unsigned sys_share_mode(unsigned mode, unsigned share, bool is_dir);

/*
 * Apply a share to an open file or directory; nothing when it has none, or no
 * change is due. `path` is for messages. 0 or ERR_IO.
 */
int sys_share_fd(int fd, unsigned share, const char *path, struct error *err);

/* The same by name. */
int sys_share_path(const char *path, unsigned share, struct error *err);

#endif
