/* SPDX-License-Identifier: MIT */
/* A library for LD_PRELOAD in which unlinkat() fails as on a disk error. */
#include <errno.h>
#include <unistd.h>

__attribute__((visibility("default"))) int unlinkat(int fd, const char *path,
						    int flags)
{
	(void)fd;
	(void)path;
	(void)flags;
	errno = EIO;
	return -1;
}
