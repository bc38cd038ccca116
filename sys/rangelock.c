/* SPDX-License-Identifier: MIT */
/*
 * Locks on single bytes of a file, with "open file description locks"
 * (fcntl_locking(2)).
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "sys/rangelock.h"

static int open_with(const char *path, mode_t mode, struct error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode);

	return fd < 0 ? error_set_errno(err, "cannot open '%s'", path) : fd;
}

int sys_rangelock_open(const char *path, struct error *err)
{
	return open_with(path, 0666, err);
}

int sys_rangelock_open_private(const char *path, struct error *err)
{
	return open_with(path, 0600, err);
}

static int set(int fd, uint32_t nr, short type, bool wait)
{
	struct flock lock = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = nr,
		.l_len = 1,
	};
	int ret;

	do
		ret = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
	while (ret < 0 && errno == EINTR);
	return ret;
}

int sys_rangelock_take(int fd, uint32_t nr, bool shared, bool wait,
		       struct error *err)
{
	if (!set(fd, nr, shared ? F_RDLCK : F_WRLCK, wait))
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return error_set(err, ERR_DENIED, "lock %u is already held",
				 nr);
	return error_set_errno(err, "cannot lock");
}

bool sys_rangelock_is_taken(int fd, uint32_t nr)
{
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = nr,
		.l_len = 1,
	};

	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

int sys_rangelock_take_all(int fd, struct error *err)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (!fcntl(fd, F_OFD_SETLK, &all))
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return error_set(err, ERR_DENIED, "a lock is already held");
	return error_set_errno(err, "cannot lock");
}

void sys_rangelock_drop_all(int fd)
{
	struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	fcntl(fd, F_OFD_SETLK, &all);
}

void sys_rangelock_drop(int fd, uint32_t nr)
{
	set(fd, nr, F_UNLCK, false);
}
