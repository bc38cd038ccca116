/* SPDX-License-Identifier: MIT */
/*
 * Maps whole files read-only, or reads them into memory. Reading a small file
 * takes a third of the time of mapping, reading and unmapping it.
 */
#ifndef SYS_MAP_H
#define SYS_MAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Maximum size in bytes of a file that is read into memory. A larger file is
 * mapped.
 */
#define SYS_MAP_COPY_MAX ((size_t)8 << 10)

/*
 * A whole file: a read-only private mapping or a copy. Immutable once opened;
 * threads may share it. An empty file has data != NULL and len == 0.
 */
struct sys_map {
	/* points into the mapping or the copy */
	const uint8_t *data;
	size_t len; /* bytes */
	/* true: `data` comes from malloc(); false: `data` is mapped */
	bool is_copy;
};

#define SYS_MAP_INIT                                                           \
	{                                                                      \
		NULL, 0, false                                                 \
	}

/*
 * Maps the regular file `path`. Returns 0, ERR_MISSING if there is no such
 * file, ERR_IO or ERR_NOMEM. After an error *map is zeroed.
 */
int sys_map_open(struct sys_map *map, const char *path, struct error *err);

/*
 * Works like sys_map_open() for an open file of `len` bytes. The descriptor
 * stays open.
 */
int sys_map_file(struct sys_map *map, int fd, size_t len, const char *path,
		 struct error *err);

/* Unmaps or frees a map. A zeroed map is allowed. */
void sys_map_close(struct sys_map *map);

/* Tells the kernel that the mapping will be read from the start to the end. */
void sys_map_advise_sequential(const struct sys_map *map);

/*
 * Releases the pages that lie wholly in [off, off + len), so that the process
 * uses less memory. A later access reads them from the file again.
 */
void sys_map_drop(const struct sys_map *map, size_t off, size_t len);

/*
 * Appends the content of the file `path` to *out. Returns 0, ERR_MISSING if
 * there is no such file, ERR_IO or ERR_NOMEM. After each of these errors, *err
 * is set.
 */
int sys_read_file(struct buf *out, const char *path, struct error *err);

/*
 * A held file: a file that is opened at once, and mapped when its bytes are
 * first needed.
 *
 * Mapping is the main cost of opening a file. A caller that opens many files
 * and reads few of them avoids this cost. The content is fixed at the time of
 * opening: a file that is removed or replaced later can still be read. Small
 * files are read at once, and not mapped. A held file occupies a descriptor
 * until it is mapped; sys_held_bytes() closes the descriptor.
 *
 * Threads may share a held file.
 */
struct sys_held {
	size_t len; /* bytes */
	/* modification time of the file in nanoseconds since 1970 */
	int64_t mtime_ns;
	/* the bytes of the file, in `map`; NULL while the file is not mapped */
	_Atomic(const uint8_t *) bytes;
	/* guards the fields below while a thread maps the file */
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

/*
 * Maps the file of a struct sys_held (a file that was opened, but not mapped
 * yet). Then closes the file's descriptor. Returns the bytes of the file, or
 * NULL with *err set. Called by sys_held_bytes(), which other code should use.
 */
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

/*
 * Returns the bytes of the file of a struct sys_held if the file is mapped
 * already, else NULL.
 */
static inline const uint8_t *sys_held_mapped(const struct sys_held *held)
{
	return atomic_load_explicit(&held->bytes, memory_order_acquire);
}

/*
 * Copies bytes [off, off + len) of a held file without mapping the file. The
 * range must lie in the file. Only the thread that opened the file may call
 * this, before other threads get access to it. Returns 0 or ERR_IO.
 */
int sys_held_read(const struct sys_held *held, void *bytes, size_t len,
		  size_t off, const char *path, struct error *err);

/*
 * Works like sys_map_drop() for a held file that is mapped. Does nothing if the
 * file is not mapped yet.
 */
void sys_held_drop(const struct sys_held *held, size_t off, size_t len);

/*
 * Returns how many files a process should have open as struct sys_held at a
 * time. The number depends on the process's limit of descriptors.
 */
size_t sys_held_max(void);

#endif
