/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the table of contents of a chunk file: a commit-graph or a
 * multi-pack-index (gitformat-chunk(5)). All numbers are big-endian:
 *
 *   header of the file's format, with the number of chunks C
 *   table of contents: (C + 1) x (chunk id: 4, file offset: 8 bytes)
 *   chunks, in the order of the table; a chunk ends where the next begins
 *   trailer of the file's format
 *
 * The last row of the table has the id 0 and the offset where the last chunk
 * ends. An example with a header of 8 bytes, a chunk "ABCD" of 3 bytes and a
 * chunk "EFGH" of 1 byte:
 *
 * 	08  41424344 00000000 0000002c
 * 	14  45464748 00000000 0000002f
 * 	20  00000000 00000000 00000030
 * 	2c  616161 62
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

/*
 * length in bytes of one row of the table of contents: a chunk id and a file
 * offset
 */
#define CHUNK_ROW_LEN 12

struct chunk {
	/* four characters packed by CHUNK_ID(); never 0 */
	uint32_t id;
	/* points into the file; NULL if the chunk is absent */
	const uint8_t *start;
	uint64_t len; /* bytes */
};

/*
 * Reads the table of contents at *c. The file begins at `bytes`, and its chunks
 * must end at or before the offset `body_len`. `chunks` lists the `nr` chunks
 * to find: the caller sets each `id` and zeroes the other fields. This function
 * sets `start` and `len` of the chunks that exist. Chunks with other ids are
 * ignored.
 *
 * Verifies that all chunks lie behind the table, in order and inside the body,
 * and that no requested id occurs twice. Returns 0 or ERR_CORRUPT.
 */
int chunk_contents_read(struct chunk *chunks, size_t nr, struct cursor *c,
			const uint8_t *bytes, uint64_t body_len,
			unsigned chunk_nr, const char *name, struct error *err);

/*
 * Appends a table of contents for `nr` chunks with the given `id` and `len`.
 * The chunks will follow the table. The file begins at byte `file_start` of
 * *out. Returns 0 or ERR_NOMEM. After an error, *out is unchanged.
 */
int chunk_contents_append(struct buf *out, size_t file_start,
			  const struct chunk *chunks, size_t nr);

#endif
