/* SPDX-License-Identifier: MIT */
/* Applies core.sharedRepository to new files and directories. */
#include <sys/stat.h>

#include "sys/share.h"

#define EXACT (1U << 21)

/* Adds execute permission for each class of users that has read permission. */
static unsigned executable(unsigned bits)
{
	return bits | (bits & 0444) >> 2;
}

unsigned sys_share_mode(unsigned mode, unsigned share, bool is_dir)
{
	unsigned bits = SYS_SHARE_BITS(share);

	if (!bits)
		return mode;
	if (!(mode & S_IWUSR))
		bits &= ~0222U;
	if (mode & S_IXUSR)
		bits = executable(bits);
	mode = share & EXACT ? (mode & ~0777U) | bits : mode | bits;
	if (!is_dir)
		return mode;
	/*
	 * A directory gets the set-group-ID bit only if the group may use the
	 * directory.
	 */
	return executable(mode) | (bits & 0060 ? S_ISGID : 0);
}

/*
 * Sets *mode to the permissions that a file with the attributes *st must have
 * because of `share`. Returns whether the file has other permissions now.
 */
static bool wants_change(unsigned *mode, const struct stat *st, unsigned share)
{
	unsigned old = st->st_mode & 07777;

	*mode = sys_share_mode(old, share, S_ISDIR(st->st_mode));
	return *mode != old;
}

int sys_share_fd(int fd, unsigned share, const char *path, struct error *err)
{
	struct stat st;
	unsigned mode;

	if (!SYS_SHARE_BITS(share))
		return 0;
	if (fstat(fd, &st) < 0 ||
	    (wants_change(&mode, &st, share) && fchmod(fd, mode) < 0))
		return error_set_errno(err, "cannot set permissions of '%s'",
				       path);
	return 0;
}

int sys_share_path(const char *path, unsigned share, struct error *err)
{
	struct stat st;
	unsigned mode;

	if (!SYS_SHARE_BITS(share))
		return 0;
	if (stat(path, &st) < 0 ||
	    (wants_change(&mode, &st, share) && chmod(path, mode) < 0))
		return error_set_errno(err, "cannot set permissions of '%s'",
				       path);
	return 0;
}
