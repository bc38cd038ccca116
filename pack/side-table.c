/* SPDX-License-Identifier: MIT */
/* Reads and writes the common format of .rev and .mtimes files. */
#include <string.h>

#include "base/bytes.h"
#include "object/hash.h"
#include "pack/side-table.h"

enum { HEADER_LEN = 12 };

int side_table_parse(const uint8_t **table, const struct side_table_kind *kind,
		     const struct pack_idx *idx, const void *bytes, size_t len,
		     const char *name, struct error *err)
{
	size_t id_len = hash_len(idx->algo);
	size_t want = HEADER_LEN + 4 * (size_t)idx->nr + 2 * id_len;
	const uint8_t *p = bytes;

	if (len != want)
		return error_set(err, ERR_CORRUPT,
				 "%s: wrong size for %u objects", name,
				 idx->nr);
	if (memcmp(p, kind->magic, 4) != 0 || load_be32(p + 4) != 1)
		return error_set(err, ERR_CORRUPT, "%s: not a version 1 %s",
				 name, kind->what);
	if (load_be32(p + 8) != (uint32_t)idx->algo)
		return error_set_at(err, ERR_CORRUPT, name, 8,
				    "wrong hash function");
	if (memcmp(p + len - 2 * id_len, idx->pack_checksum, id_len) != 0)
		return error_set(err, ERR_CORRUPT,
				 "%s: belongs to another pack", name);
	*table = p + HEADER_LEN;
	return 0;
}

int side_table_write(struct buf *out, const struct side_table_kind *kind,
		     const uint32_t *numbers, uint32_t nr,
		     const struct oid *pack_checksum, enum hash_algo algo,
		     struct error *err)
{
	size_t id_len = hash_len(algo), start = out->len;
	size_t len = HEADER_LEN + 4 * (size_t)nr + id_len;
	uint8_t *p;

	if (buf_reserve(out, len + id_len) < 0)
		return error_nomem(err);
	p = (uint8_t *)out->data + start;
	memcpy(p, kind->magic, 4);
	store_be32(p + 4, 1);
	store_be32(p + 8, (uint32_t)algo);
	for (uint32_t i = 0; i < nr; i++)
		store_be32(p + HEADER_LEN + 4 * (size_t)i, numbers[i]);
	memcpy(p + len - id_len, pack_checksum->bytes, id_len);
	buf_set_len(out, start + len);
	if (hash_append_trailer(out, start, algo, NULL) < 0) {
		buf_set_len(out, start);
		return error_nomem(err);
	}
	return 0;
}
