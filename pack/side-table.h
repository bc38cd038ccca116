/* SPDX-License-Identifier: MIT */
/*
 * The common format of .rev and .mtimes files, which store one number per
 * object of a pack. All numbers are big-endian (gitformat-pack(5)):
 *
 * 	magic: 4 | version 1: 4 | hash id: 4 (1 SHA-1, 2 SHA-256)
 * 	nr x 4          the numbers
 * 	pack checksum   of the pack
 * 	own checksum    of all bytes before it
 *
 * pack/rev.h and pack/mtimes.h document the meaning of the numbers, and have
 * examples.
 */
#ifndef PACK_SIDE_TABLE_H
#define PACK_SIDE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pack/idx.h"

struct side_table_kind {
	char magic[5]; /* four letters */
	const char *what;
};

/*
 * Verifies size, header and pack checksum, but not the file's own checksum, for
 * which there is hash_check_trailer(). Returns 0 with *table pointing to the
 * idx->nr big-endian numbers in `bytes`, or ERR_CORRUPT. `name` is for
 * messages.
 */
int side_table_parse(const uint8_t **table, const struct side_table_kind *kind,
		     const struct pack_idx *idx, const void *bytes, size_t len,
		     const char *name, struct error *err);

/*
 * Appends a whole .rev or .mtimes file. Returns 0, or ERR_NOMEM with nothing
 * appended.
 */
int side_table_write(struct buf *out, const struct side_table_kind *kind,
		     const uint32_t *numbers, uint32_t nr,
		     const struct oid *pack_checksum, enum hash_algo algo,
		     struct error *err);

#endif
