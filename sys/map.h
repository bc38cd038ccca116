/* SPDX-License-Identifier: MIT */
/*
 * Whole files mapped read-only, or read into memory: to map a small one, look
 * at it and unmap it costs three times what reading it does.
 */
#ifndef SYS_MAP_H
#define SYS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* Files of up to this size are read. */
#define SYS_MAP_COPY_MAX ((size_t)8 << 10)

/*
 * A whole file: a read-only private mapping of it, or a copy. Immutable after
 * opening; threads may share it. An empty file gives data != NULL and len == 0.
 */
struct sys_map {
	const uint8_t *data; /* points into the mapping, or the copy */
	size_t len;          /* bytes */
	bool is_copy;        /* malloc()ed */
};

#define SYS_MAP_INIT                                                           \
	{                                                                      \
		NULL, 0, false                                                 \
	}

/*
 * Map the regular file `path`. Returns 0, ERR_MISSING when there is no such
 * file, ERR_IO or ERR_NOMEM; on failure *map is zeroed.
 */
int sys_map_open(struct sys_map *map, const char *path, struct error *err);

/* The same for an open file of `len` bytes, which stays open. */
int sys_map_file(struct sys_map *map, int fd, size_t len, const char *path,
		 struct error *err);

/* Unmap or free; a zeroed map is accepted. */
void sys_map_close(struct sys_map *map);

/* Tell the kernel that the whole mapping will be read front to back. */
void sys_map_advise_sequential(const struct sys_map *map);

/*
 * Let go of the pages that lie wholly in [off, off + len): they count no
 * longer against the process and are read again from the file when touched.
 */
void sys_map_drop(const struct sys_map *map, size_t off, size_t len);

/*
 * Append the content of the file `path` to *out. Returns 0, ERR_MISSING when
 * there is no such file (err is set then too), ERR_IO or ERR_NOMEM.
 */
int sys_read_file(struct buf *out, const char *path, struct error *err);

#endif
