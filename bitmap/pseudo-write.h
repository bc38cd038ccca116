/* SPDX-License-Identifier: MIT */
/* The pseudo-merge section, written. Layout: bitmap/pseudo-merge.h. */
#ifndef BITMAP_PSEUDO_WRITE_H
#define BITMAP_PSEUDO_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "bitmap/file-write.h"

/*
 * Append the section of `nr` > 0 pseudo-merges to a file that begins at offset
 * `base` of *out. 0 or ERR_NOMEM.
 */
int pseudo_merges_write(struct buf *out, size_t base,
			const struct bitmap_write_pseudo *pseudo, uint32_t nr);

#endif
