/* SPDX-License-Identifier: MIT */
/*
 * Files that are opened at once and mapped when their bytes are first needed.
 */
#include <sys/resource.h>
#include <string.h>

#include "sys/map.h"
#include "sys/io.h"

/*
 * Limit of the number of held files that are open and not mapped yet: the
 * process's limit of descriptors divided by HELD_PART, but at most HELD_MAX.
 */
#define HELD_PART 4
#define HELD_MAX 256

int sys_held_open(struct sys_held *held, const char *path, struct error *err)
{
	struct sys_stat st;
	int fd = sys_open_file(&st, path, err);

	*held = (struct sys_held)SYS_HELD_INIT;
	if (fd < 0)
		return fd;
	held->fd = fd;
	held->len = (size_t)st.size;
	held->mtime_ns = st.mtime_ns;
	if (held->len <= SYS_MAP_COPY_MAX && !sys_held_map(held, path, err))
		return error_recorded(err, ERR_IO);
	return 0;
}

void sys_held_close(struct sys_held *held)
{
	sys_map_close(&held->map);
	sys_close(held->fd);
	pthread_mutex_destroy(&held->lock);
	*held = (struct sys_held)SYS_HELD_INIT;
}

/*
 * Maps a held file, which is open but not mapped yet. The caller holds the
 * lock.
 */
static const uint8_t *map_it(struct sys_held *held, const char *path,
			     struct error *err)
{
	if (held->fd >= 0 &&
	    sys_map_file(&held->map, held->fd, held->len, path, err) < 0)
		return NULL;
	sys_close(held->fd);
	held->fd = -1;
	atomic_store_explicit(&held->bytes, held->map.data,
			      memory_order_release);
	return held->map.data;
}

const uint8_t *sys_held_map(const struct sys_held *held, const char *path,
			    struct error *err)
{
	/*
	 * Casting away const is allowed, because mapping does not change what
	 * callers see of the file.
	 */
	struct sys_held *h = (struct sys_held *)(uintptr_t)held;
	const uint8_t *bytes;

	pthread_mutex_lock(&h->lock);
	bytes = map_it(h, path, err);
	pthread_mutex_unlock(&h->lock);
	return bytes;
}

int sys_held_read(const struct sys_held *held, void *bytes, size_t len,
		  size_t off, const char *path, struct error *err)
{
	const uint8_t *mapped = sys_held_mapped(held);

	if (!mapped)
		return sys_read_at(held->fd, bytes, len, off, path, err);
	memcpy(bytes, mapped + off, len);
	return 0;
}

void sys_held_drop(const struct sys_held *held, size_t off, size_t len)
{
	if (sys_held_mapped(held))
		sys_map_drop(&held->map, off, len);
}

size_t sys_held_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	return limit.rlim_cur / HELD_PART < HELD_MAX
		       ? (size_t)limit.rlim_cur / HELD_PART
		       : HELD_MAX;
}
