/* SPDX-License-Identifier: MIT */
/*
 * The files beside a pack that say one number of each object: .rev and
 * .mtimes have this form in common, all big-endian (gitformat-pack(5)):
 *
 *	magic: 4 | version 1: 4 | hash id: 4 (1 SHA-1, 2 SHA-256)
 *	nr x 4          the numbers
 *	pack checksum   of the pack they are about
 *	own checksum    of all of the above
 *
 * What the numbers mean, and examples, are in rev.h and mtimes.h.
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
 * Check size, header and pack checksum, not the file's own. 0 with *table
 * pointing at idx->nr be32 inside `bytes`, or ERR_CORRUPT. `name` is for
 * messages.
 */
int side_table_parse(const uint8_t **table, const struct side_table_kind *kind,
		     const struct pack_idx *idx, const void *bytes, size_t len,
		     const char *name, struct error *err);

/*
 * Check the own checksum of a file that was parsed: reads all of it. 0,
 * ERR_CORRUPT or ERR_NOMEM.
 */
int side_table_verify(const struct pack_idx *idx, const void *bytes, size_t len,
		      const char *name, struct error *err);

/* Append a whole file. 0, or ERR_NOMEM with nothing appended. */
int side_table_write(struct buf *out, const struct side_table_kind *kind,
		     const uint32_t *numbers, uint32_t nr,
		     const struct oid *pack_checksum, enum hash_algo algo,
		     struct error *err);

#endif
