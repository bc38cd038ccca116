/* SPDX-License-Identifier: MIT */
/* Maps or reads whole files. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/io.h"
#include "sys/map.h"

static int copy_file(struct sys_map *map, int fd, size_t len, const char *path,
		     struct error *err)
{
	uint8_t *data = mem_alloc(len, 1);
	int ret = data ? sys_read_at(fd, data, len, 0, path, err)
		       : error_nomem(err);

	if (ret < 0) {
		free(data);
		return ret;
	}
	*map = (struct sys_map){data, len, true};
	return 0;
}

int sys_map_file(struct sys_map *map, int fd, size_t len, const char *path,
		 struct error *err)
{
	static const uint8_t nothing[1];
	void *data;

	*map = (struct sys_map)SYS_MAP_INIT;
	if (!len) {
		map->data = nothing;
		return 0;
	}
	if (len <= SYS_MAP_COPY_MAX)
		return copy_file(map, fd, len, path, err);
	data = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return error_set_errno(err, "cannot map '%s'", path);
	*map = (struct sys_map){data, len, false};
	return 0;
}

int sys_map_open(struct sys_map *map, const char *path, struct error *err)
{
	struct sys_stat st;
	int fd, ret;

	*map = (struct sys_map)SYS_MAP_INIT;
	fd = sys_open_file(&st, path, err);
	if (fd < 0)
		return fd;
	ret = sys_map_file(map, fd, (size_t)st.size, path, err);
	close(fd);
	return ret;
}

void sys_map_close(struct sys_map *map)
{
	if (map->is_copy)
		free((void *)(uintptr_t)map->data);
	else if (map->len)
		munmap((void *)(uintptr_t)map->data, map->len);
	*map = (struct sys_map)SYS_MAP_INIT;
}

void sys_map_advise_sequential(const struct sys_map *map)
{
	if (map->len && !map->is_copy)
		madvise((void *)(uintptr_t)map->data, map->len,
			MADV_SEQUENTIAL);
}

void sys_map_drop(const struct sys_map *map, size_t off, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t end;

	if (map->is_copy || off >= map->len)
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
	struct sys_stat st;
	size_t room = 4096;
	int ret = 0;
	int fd = sys_open_file(&st, path, err);

	if (fd < 0)
		return fd;
	/*
	 * The size from stat() is only a hint for the allocation: the file may
	 * have grown since, and files in /proc have size 0.
	 */
	if (st.size > room)
		room = (size_t)st.size + 1;
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
