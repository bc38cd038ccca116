/* SPDX-License-Identifier: MIT */
/*
 * The header of one entry of a pack (gitformat-pack(5)):
 *
 *   1 ttt ssss | 1 sssssss | ... | 0 sssssss     type and inflated size
 *   OFS_DELTA: distance back to the base, in base 128 plus one per byte
 *   REF_DELTA: id of the base
 *   zlib stream
 */
#ifndef PACK_ENTRY_H
#define PACK_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"

#define PACK_ENTRY_HEADER_MAX (10 + 10 + OID_MAX_LEN) /* bytes */

struct pack_entry {
	enum object_type type;   /* as stored: OBJ_OFS_DELTA, ... possible */
	uint64_t size;           /* inflated bytes (of the delta, for deltas) */
	size_t header_len;       /* bytes before the zlib stream */
	uint64_t base_distance;  /* OBJ_OFS_DELTA: this offset - base offset */
	const uint8_t *base_oid; /* OBJ_REF_DELTA: raw id, points into bytes */
};

/*
 * Parse a header from the front of *c and step over it. Returns 0 or
 * ERR_CORRUPT (type 0 or 5, a size or distance past 64 bits, distance 0, cut
 * short) with *c untouched.
 */
int pack_entry_parse(struct pack_entry *entry, struct cursor *c,
		     enum hash_algo algo);

/*
 * Write a header: `out` has PACK_ENTRY_HEADER_MAX bytes; returns its length.
 * base_distance is used for OBJ_OFS_DELTA, base_oid for OBJ_REF_DELTA.
 */
size_t pack_entry_write(uint8_t *out, const struct pack_entry *entry,
			enum hash_algo algo);

#endif
