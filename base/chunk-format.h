/* SPDX-License-Identifier: MIT */
/*
 * Files in chunks, as commit-graphs and multi-pack-indexes are
 * (gitformat-chunk(5)), all numbers big-endian:
 *
 *   header of the format's own, with the number of chunks C
 *   table of contents: (C + 1) x (chunk id 4, file offset 8)
 *   chunks, in that order, each ending where the next begins
 *   trailer of the format's own
 *
 * The last row of the table has the id 0 and the offset where the last chunk
 * ends. For instance, behind a header of 8 bytes, "ABCD" with 3 bytes and
 * "EFGH" with 1:
 *
 *	08  41424344 00000000 0000002c
 *	14  45464748 00000000 0000002f
 *	20  00000000 00000000 00000030
 *	2c  616161 62
 */
#ifndef BASE_CHUNK_FORMAT_H
#define BASE_CHUNK_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"

#define CHUNK_ID(a, b, c, d)                                                   \
	((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 |      \
	 (uint32_t)(d))

#define CHUNK_ROW_LEN 12 /* bytes of a row of the table of contents */

struct chunk {
	uint32_t id;          /* CHUNK_ID(); never 0 */
	const uint8_t *start; /* points into the file; NULL: not there */
	uint64_t len;         /* bytes */
};

/*
 * Read the table of contents at *c, which lies in a file that begins at
 * `bytes`; chunks end at `body_len` at the latest. Fills in `start` and `len`
 * of those of the `nr` chunks whose id is there (the caller sets `id` and
 * zeroes the rest); chunks of other ids are passed over. Checked: that all
 * chunks lie behind the table, in order and inside the body, and that no id
 * that is asked for is there twice. 0 or ERR_CORRUPT.
 */
int chunk_contents_read(struct chunk *chunks, size_t nr, struct cursor *c,
			const uint8_t *bytes, uint64_t body_len,
			unsigned chunk_nr, const char *name, struct error *err);

/*
 * Append a table of contents for chunks of the given `id` and `len`, which
 * will follow it. The file begins at byte `file_start` of *out. 0 or
 * ERR_NOMEM with *out as it was.
 */
int chunk_contents_append(struct buf *out, size_t file_start,
			  const struct chunk *chunks, size_t nr);

#endif
