/* SPDX-License-Identifier: MIT */
/* Mapping and reading whole files. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/map.h"

/* What is no file is refused, and not waited for as a pipe would be. */
static int open_regular(const char *path, struct stat *st, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		int missing = errno == ENOENT || errno == ENOTDIR;

		error_set_errno(err, "cannot open '%s'", path);
		return error_recode(err, missing ? ERR_MISSING : ERR_IO);
	}
	if (fstat(fd, st) < 0) {
		error_set_errno(err, "cannot stat '%s'", path);
		close(fd);
		return ERR_IO;
	}
	if (!S_ISREG(st->st_mode)) {
		errno = S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
		error_set_errno(err, "cannot read '%s'", path);
		close(fd);
		return ERR_IO;
	}
	return fd;
}

int sys_map_open(struct sys_map *map, const char *path, struct error *err)
{
	static const uint8_t nothing[1];
	struct stat st;
	void *data;
	int fd;

	*map = (struct sys_map)SYS_MAP_INIT;
	fd = open_regular(path, &st, err);
	if (fd < 0)
		return fd;
	if (!st.st_size) {
		close(fd);
		map->data = nothing;
		return 0;
	}
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return error_set_errno(err, "cannot map '%s'", path);
	map->data = data;
	map->len = (size_t)st.st_size;
	return 0;
}

void sys_map_close(struct sys_map *map)
{
	if (map->len)
		munmap((void *)(uintptr_t)map->data, map->len);
	*map = (struct sys_map)SYS_MAP_INIT;
}

void sys_map_advise_sequential(const struct sys_map *map)
{
	if (map->len)
		madvise((void *)(uintptr_t)map->data, map->len,
			MADV_SEQUENTIAL);
}

void sys_map_drop(const struct sys_map *map, size_t off, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t end;

	if (off >= map->len)
		return;
	end = len < map->len - off ? off + len : map->len;
	off = (off + page - 1) & ~(page - 1);
	end &= ~(page - 1);
	if (off < end)
		madvise((void *)(uintptr_t)(map->data + off), end - off,
			MADV_DONTNEED);
}

int sys_read_file(struct buf *out, const char *path, struct error *err)
{
	struct stat st;
	size_t room = 4096;
	int ret = 0;
	int fd = open_regular(path, &st, err);

	if (fd < 0)
		return fd;
	/* Its size is a hint only: it may grow, or be 0 for files in /proc. */
	if (st.st_size > (off_t)room)
		room = (size_t)st.st_size + 1;
	for (;;) {
		ssize_t n;

		if (buf_reserve(out, room) < 0) {
			ret = error_nomem(err);
			break;
		}
		n = read(fd, out->data + out->len, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			ret = error_set_errno(err, "cannot read '%s'", path);
			break;
		}
		if (!n)
			break;
		buf_set_len(out, out->len + (size_t)n);
		room = 4096;
	}
	close(fd);
	return ret;
}
