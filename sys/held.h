/* SPDX-License-Identifier: MIT */
/*
 * A file that is held open, and mapped when its bytes are first asked for.
 *
 * Who has a great many files and will look into few of them is spared what
 * mapping costs, which is most of what opening does, and yet has all of them:
 * one that is removed meanwhile, or replaced by another of its name, stays what
 * it was. Small ones are read at once (sys/map.h). A held file takes a
 * descriptor until it is mapped; sys_held_bytes() lets go of it.
 *
 * Threads may share it.
 */
#ifndef SYS_HELD_H
#define SYS_HELD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "sys/map.h"

struct sys_held {
	size_t len;       /* bytes */
	int64_t mtime_ns; /* when it was changed, nanoseconds since 1970 */
	_Atomic(const uint8_t *) bytes; /* points into `map`; NULL until then */
	pthread_mutex_t lock;           /* guards mapping: what follows */
	struct sys_map map;
	int fd; /* owned; -1: it is mapped */
};

#define SYS_HELD_INIT                                                          \
	{                                                                      \
		.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1                    \
	}

/*
 * Open the regular file `path`. Returns 0, ERR_MISSING when there is no such
 * file, ERR_IO or ERR_NOMEM; *held is to be closed in any case.
 */
int sys_held_open(struct sys_held *held, const char *path, struct error *err);
void sys_held_close(struct sys_held *held);

/* What sys_held_bytes() does the first time. */
const uint8_t *sys_held_map(const struct sys_held *held, const char *path,
			    struct error *err);

/*
 * Its bytes, `held->len` of them; not NULL even if there are none. NULL and
 * *err when it cannot be mapped, which is not so once it was. `path` is for
 * messages.
 */
static inline const uint8_t *sys_held_bytes(const struct sys_held *held,
					    const char *path, struct error *err)
{
	const uint8_t *bytes = atomic_load_explicit(&held->bytes,
						    memory_order_acquire);

	return bytes ? bytes : sys_held_map(held, path, err);
}

/* The same if it was mapped; else NULL. */
static inline const uint8_t *sys_held_mapped(const struct sys_held *held)
{
	return atomic_load_explicit(&held->bytes, memory_order_acquire);
}

/*
 * Copy [off, off + len), which lies in it, without mapping it. For who opened
 * it, before other threads have it. 0 or ERR_IO.
 */
int sys_held_read(const struct sys_held *held, void *bytes, size_t len,
		  size_t off, const char *path, struct error *err);

/* As sys_map_drop(), if it is mapped. */
void sys_held_drop(const struct sys_held *held, size_t off, size_t len);

/* How many a process should have at a time, by its limit for descriptors. */
size_t sys_held_max(void);

#endif
