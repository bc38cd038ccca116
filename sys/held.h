/* SPDX-License-Identifier: MIT */
/*
 * A file that is opened at once, and mapped when its bytes are first needed.
 *
 * Mapping is the main cost of opening a file. A caller with a great many files
 * that reads only a few of them saves that cost. The content is fixed at the
 * time of opening: a file that is removed or replaced later can still be read.
 * Small files are read at once (sys/map.h). A held file occupies a descriptor
 * until it is mapped; sys_held_bytes() closes the descriptor.
 *
 * Threads may share a held file.
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
	size_t len; /* bytes */
	/* modification time, nanoseconds since 1970 */
	int64_t mtime_ns;
	/* points into `map`; NULL until mapped */
	_Atomic(const uint8_t *) bytes;
	/* guards mapping: the fields below */
	pthread_mutex_t lock;
	struct sys_map map;
	int fd; /* owned; -1 if mapped */
};

#define SYS_HELD_INIT                                                          \
	{                                                                      \
		.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1                    \
	}

/*
 * Opens the regular file `path`. Returns 0, ERR_MISSING if there is no such
 * file, ERR_IO or ERR_NOMEM. The caller closes *held in any case.
 */
int sys_held_open(struct sys_held *held, const char *path, struct error *err);
void sys_held_close(struct sys_held *held);

/* Maps the file; sys_held_bytes() calls this the first time. */
const uint8_t *sys_held_map(const struct sys_held *held, const char *path,
			    struct error *err);

/*
 * Returns the `held->len` bytes of the file, and maps the file if needed. The
 * result is not NULL for an empty file. Returns NULL and sets *err if mapping
 * fails; this cannot happen once the file is mapped. `path` is for messages.
 */
static inline const uint8_t *sys_held_bytes(const struct sys_held *held,
					    const char *path, struct error *err)
{
	const uint8_t *bytes = atomic_load_explicit(&held->bytes,
						    memory_order_acquire);

	return bytes ? bytes : sys_held_map(held, path, err);
}

/* Returns the bytes of the file if it is mapped, else NULL. */
static inline const uint8_t *sys_held_mapped(const struct sys_held *held)
{
	return atomic_load_explicit(&held->bytes, memory_order_acquire);
}

/*
 * Copies the range [off, off + len) without mapping the file. The range must
 * lie in the file. Only the thread that opened the file may call this, before
 * other threads get access to it. Returns 0 or ERR_IO.
 */
int sys_held_read(const struct sys_held *held, void *bytes, size_t len,
		  size_t off, const char *path, struct error *err);

/* Works like sys_map_drop() if the file is mapped. */
void sys_held_drop(const struct sys_held *held, size_t off, size_t len);

/*
 * Returns the number of files that a process should hold at a time. It depends
 * on the process's limit of descriptors.
 */
size_t sys_held_max(void);

#endif
