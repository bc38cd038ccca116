/* SPDX-License-Identifier: MIT */
/*
 * The header of a pack entry (gitformat-pack(5)):
 *
 *   1 ttt ssss | 1 sssssss | ... | 0 sssssss     type and inflated size
 *   OFS_DELTA: distance back to the base, a varint (base/varint.h)
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
	/* the type in the entry; may be a delta type */
	enum object_type type;
	/*
	 * number of inflated bytes; for a delta, the length of the delta itself
	 */
	uint64_t size;
	/* number of bytes of the entry before the zlib stream */
	size_t header_len;
	/* OBJ_OFS_DELTA: offset of the entry minus offset of the base */
	uint64_t base_distance;
	/* OBJ_REF_DELTA: raw id of the base; points into the parsed bytes */
	const uint8_t *base_oid;
};

/*
 * Parses the header of a pack entry at *c. Returns 0 or ERR_CORRUPT. After an
 * error, *c is unchanged. A header is corrupt if its type is 0 or 5, if its
 * size or distance exceeds 64 bits, or if the distance is 0. An incomplete
 * header is corrupt too.
 */
int pack_entry_parse(struct pack_entry *entry, struct cursor *c,
		     enum hash_algo algo);

/*
 * Writes the header of a pack entry to `out`, which has PACK_ENTRY_HEADER_MAX
 * bytes. Returns its length. base_distance is used for OBJ_OFS_DELTA, base_oid
 * for OBJ_REF_DELTA.
 */
size_t pack_entry_write(uint8_t *out, const struct pack_entry *entry,
			enum hash_algo algo);

#endif
