/* SPDX-License-Identifier: MIT */
/*
 * Whole files, mapped read-only or read into memory. For a small file, reading
 * is three times cheaper than mapping, reading and unmapping.
 */
#ifndef SYS_MAP_H
#define SYS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* Files of up to this size are read instead of mapped. */
#define SYS_MAP_COPY_MAX ((size_t)8 << 10)

/*
 * A whole file: a read-only private mapping or a copy. Immutable once opened;
 * threads may share it. An empty file has data != NULL and len == 0.
 */
struct sys_map {
	/* points into the mapping or the copy */
	const uint8_t *data;
	size_t len; /* bytes */
	/* `data` comes from malloc() */
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

/* Tells the kernel that the whole mapping will be read front to back. */
void sys_map_advise_sequential(const struct sys_map *map);

/*
 * Releases the pages that lie wholly in [off, off + len). They no longer count
 * as memory of the process. A later access reads them from the file again.
 */
void sys_map_drop(const struct sys_map *map, size_t off, size_t len);

/*
 * Appends the content of the file `path` to *out. Returns 0, ERR_MISSING if
 * there is no such file (err is set then too), ERR_IO or ERR_NOMEM.
 */
int sys_read_file(struct buf *out, const char *path, struct error *err);

#endif
