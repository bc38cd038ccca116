/* SPDX-License-Identifier: MIT */
/*
 * Pack index files (.idx), versions 1 and 2: read, checked, written.
 *
 * Version 2, all numbers big-endian (gitformat-pack(5)); version 1 is without
 * the first line and has offset (4) and id of each object together:
 *
 *	ff 74 4f 63 | 00 00 00 02
 *	fanout      256 x 4      number of ids whose first byte is <= i
 *	ids         nr x hash    ascending
 *	crc32       nr x 4       of the entry's bytes in the pack
 *	offset31    nr x 4       top bit set: the rest is a place in offset64
 *	offset64    k x 8
 *	pack checksum | index checksum
 *
 * The index of a pack that holds nothing but the blob "hello\n":
 *
 *	000  ff744f63 00000002          magic, version
 *	008  00000000 x 206             first bytes 00 to cd: none
 *	340  00000001 x 50              ce to ff: one
 *	408  ce013625 030ba8db a906f756 967f9e9c a394464a
 *	41c  52941500                   CRC of 15 bytes at offset 12
 *	420  0000000c                   offset
 *	424  de041240 1f4a9e5f 05411f44 eaf9c86d 46096746
 *	438  0b629745 910d3a0b e9ee1015 a3cd11b5 09020143
 *
 * `idx_pos` is an object's position in this file: ids ascend with it.
 */
#ifndef PACK_IDX_H
#define PACK_IDX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "pack/ids.h"

/* A parsed index. Immutable; borrows the file's bytes. */
struct pack_idx {
	const uint8_t *bytes; /* the whole file, borrowed */
	size_t len;
	enum hash_algo algo;
	unsigned version; /* 1 or 2 */
	uint32_t nr;      /* objects */
	struct pack_ids ids;
	const uint8_t *crcs;  /* version 2: nr be32, else NULL */
	const uint8_t *off32; /* version 2: nr be32, else NULL */
	const uint8_t *off64; /* version 2: off64_nr be64 */
	uint32_t off64_nr;
	const uint8_t *pack_checksum; /* hash_len() bytes */
	char *name;                   /* owned: file name for messages */
};

/*
 * Check and take apart the `len` bytes of an index file: sizes and an
 * ascending fanout. Not checked here, being O(nr): order of ids, that 64-bit
 * offsets exist, and the checksum (pack_idx_verify). `name` is for messages,
 * copied.
 * Returns 0, ERR_CORRUPT, ERR_UNSUPPORTED or ERR_NOMEM with *idx zeroed.
 */
int pack_idx_parse(struct pack_idx *idx, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err);
void pack_idx_release(struct pack_idx *idx);

/* Raw id of an object; points into the index. idx_pos < nr. */
static inline const uint8_t *pack_idx_oid(const struct pack_idx *idx,
					  uint32_t idx_pos)
{
	return pack_ids_at(&idx->ids, idx_pos);
}

/*
 * Offset in the pack, UINT64_MAX when a 64-bit offset is asked for that the
 * file does not have (a corrupt index).
 */
uint64_t pack_idx_offset(const struct pack_idx *idx, uint32_t idx_pos);

/* Have the processor fetch what pack_idx_offset() will read. */
static inline void pack_idx_prefetch(const struct pack_idx *idx,
				     uint32_t idx_pos)
{
	if (idx->off32)
		__builtin_prefetch(idx->off32 + 4 * (size_t)idx_pos);
}

/* CRC-32 of the entry's bytes in the pack; 0 for version 1. */
uint32_t pack_idx_crc(const struct pack_idx *idx, uint32_t idx_pos);

/* As pack_ids_find(). */
static inline bool pack_idx_find(const struct pack_idx *idx, const uint8_t *raw,
				 uint32_t *idx_pos)
{
	return pack_ids_find(&idx->ids, raw, idx_pos);
}

/* As pack_ids_find_prefix(). */
static inline void pack_idx_find_prefix(const struct pack_idx *idx,
					const struct oid *prefix,
					size_t hex_len, uint32_t *first,
					uint32_t *last)
{
	pack_ids_find_prefix(&idx->ids, prefix, hex_len, first, last);
}

/*
 * Check the order of ids (equal ones may follow each other), that they lie in
 * their fanout range, that 64-bit offsets exist, and the file's own checksum.
 * Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
int pack_idx_verify(const struct pack_idx *idx, struct error *err);

/* An object of a pack that is being written. */
struct pack_idx_entry {
	const uint8_t *oid; /* raw id, borrowed */
	uint64_t offset;    /* in the pack */
	uint32_t crc;       /* of the entry's bytes in the pack */
};

/* How an index is to be written. */
struct pack_idx_format {
	unsigned version; /* 1 or 2 */
	/*
	 * From this offset on, at most 2^31, offsets get 64 bits as in larger
	 * packs; version 1 becomes 2 if there are any. 0: 2^31, and that does
	 * not happen. For tests.
	 */
	uint32_t off64_from;
};

/*
 * Append to *out a whole index file for `entries`, which must be sorted by id.
 * Version 1 with an offset past 4 GiB is ERR_INVALID.
 */
int pack_idx_write_as(struct buf *out, const struct pack_idx_entry *entries,
		      uint32_t nr, const struct oid *pack_checksum,
		      const struct pack_idx_format *format, enum hash_algo algo,
		      struct error *err);

/* The same by the number of the version alone. */
static inline int pack_idx_write(struct buf *out,
				 const struct pack_idx_entry *entries,
				 uint32_t nr, const struct oid *pack_checksum,
				 unsigned version, enum hash_algo algo,
				 struct error *err)
{
	const struct pack_idx_format format = {.version = version};

	return pack_idx_write_as(out, entries, nr, pack_checksum, &format, algo,
				 err);
}

#endif
