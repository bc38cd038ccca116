/* SPDX-License-Identifier: MIT */
/* Whole files mapped read-only, or read into memory. */
#ifndef SYS_MAP_H
#define SYS_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * A read-only private mapping of a whole file. Immutable after opening;
 * threads may share it. An empty file gives data != NULL and len == 0.
 */
struct sys_map {
	const uint8_t *data; /* points into the mapping */
	size_t len;          /* bytes */
};

#define SYS_MAP_INIT                                                           \
	{                                                                      \
		NULL, 0                                                        \
	}

/*
 * Map the regular file `path`. Returns 0, ERR_MISSING when there is no such
 * file, or ERR_IO; on failure *map is zeroed.
 */
int sys_map_open(struct sys_map *map, const char *path, struct error *err);

/* Unmap; a zeroed map is accepted. */
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
