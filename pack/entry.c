/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes headers of pack entries. A number that exceeds 64 bits is an
 * error.
 */
#include <string.h>

#include "base/varint.h"
#include "pack/entry.h"

/*
 * Takes the type and the size of an entry: 4 bits of the size are in the first
 * byte, and 7 in each further byte. Returns false if the bytes end too early,
 * the size exceeds 64 bits or the type does not exist.
 */
static bool take_type_size(struct pack_entry *e, struct cursor *c)
{
	unsigned shift = 4;
	uint8_t byte;

	if (!cursor_u8(c, &byte))
		return false;
	e->type = (enum object_type)(byte >> 4 & 7);
	e->size = byte & 15;
	while (byte & 0x80) {
		uint64_t bits;

		if (!cursor_u8(c, &byte))
			return false;
		bits = byte & 0x7f;
		if (shift > 60 || (bits << shift) >> shift != bits)
			return false;
		e->size |= bits << shift;
		shift += 7;
	}
	return e->type != OBJ_NONE && e->type != 5;
}

int pack_entry_parse(struct pack_entry *entry, struct cursor *c,
		     enum hash_algo algo)
{
	struct pack_entry e = {0};
	struct cursor t = *c;

	if (!take_type_size(&e, &t))
		return ERR_CORRUPT;
	if (e.type == OBJ_OFS_DELTA &&
	    (!varint_take(&t, &e.base_distance) || !e.base_distance))
		return ERR_CORRUPT;
	if (e.type == OBJ_REF_DELTA &&
	    !cursor_bytes(&t, &e.base_oid, hash_len(algo)))
		return ERR_CORRUPT;
	e.header_len = (size_t)(t.p - c->p);
	*entry = e;
	*c = t;
	return 0;
}

size_t pack_entry_write(uint8_t *out, const struct pack_entry *entry,
			enum hash_algo algo)
{
	uint64_t size = entry->size >> 4;
	size_t n = 0;

	out[n] = (uint8_t)(entry->type << 4 | (entry->size & 15));
	for (; size; size >>= 7) {
		out[n++] |= 0x80;
		out[n] = size & 0x7f;
	}
	n++;
	if (entry->type == OBJ_OFS_DELTA)
		n += varint_put(out + n, entry->base_distance);
	if (entry->type == OBJ_REF_DELTA) {
		memcpy(out + n, entry->base_oid, hash_len(algo));
		n += hash_len(algo);
	}
	return n;
}
