/* SPDX-License-Identifier: MIT */
/* A library put before libc: unlinkat() fails as if the disk had failed. */
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
