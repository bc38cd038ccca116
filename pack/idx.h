/* SPDX-License-Identifier: MIT */
/*
 * Reads, verifies and writes pack index files (.idx), versions 1 and 2.
 *
 * Version 2 is as follows, all numbers big-endian (gitformat-pack(5)). Version
 * 1 has no first line, and stores the offset (4 bytes) and the id of each
 * object together:
 *
 * 	ff 74 4f 63 | 00 00 00 02
 * 	fanout      256 x 4      number of ids whose first byte is <= i
 * 	ids         nr x hash    ascending
 * 	crc32       nr x 4       of the entry's bytes in the pack
 * 	offset31    nr x 4       top bit set: the rest is a place in offset64
 * 	offset64    k x 8
 * 	pack checksum | index checksum
 *
 * The index of a pack that contains only the blob "hello\n":
 *
 * 	000  ff744f63 00000002          magic, version
 * 	008  00000000 x 206             first bytes 00 to cd: none
 * 	340  00000001 x 50              ce to ff: one
 * 	408  ce013625 030ba8db a906f756 967f9e9c a394464a
 * 	41c  52941500                   CRC of 15 bytes at offset 12
 * 	420  0000000c                   offset
 * 	424  de041240 1f4a9e5f 05411f44 eaf9c86d 46096746
 * 	438  0b629745 910d3a0b e9ee1015 a3cd11b5 09020143
 *
 * `idx_pos` is the position of an object in this file, in the order of ids.
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

/* A parsed index of a pack. Immutable; borrows the file's bytes. */
struct pack_idx {
	const uint8_t *bytes; /* the whole file, borrowed */
	size_t len;
	enum hash_algo algo;
	unsigned version; /* 1 or 2 */
	uint32_t nr;      /* objects */
	struct pack_ids ids;
	/* version 2: `nr` big-endian CRCs; version 1: NULL */
	const uint8_t *crcs;
	/* version 2: `nr` big-endian offsets; version 1: NULL */
	const uint8_t *off32;
	const uint8_t *off64; /* version 2: off64_nr be64 */
	uint32_t off64_nr;
	const uint8_t *pack_checksum; /* checksum of the pack */
	/* owned: file name for messages */
	char *name;
};

/*
 * Parses the `len` bytes of an index file. Verifies the sizes, and that the
 * fanout ascends. Some checks take time in proportion to the number of objects,
 * and are left to pack_idx_verify(): the order of ids, the existence of 64-bit
 * offsets, and the checksum. `name` is for messages and is copied. Returns 0,
 * or ERR_CORRUPT, ERR_UNSUPPORTED or ERR_NOMEM. After an error, *idx is zeroed.
 */
int pack_idx_parse(struct pack_idx *idx, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err);
void pack_idx_release(struct pack_idx *idx);

/*
 * Returns the raw id of the object at idx_pos < nr. The id points into the
 * index file.
 */
static inline const uint8_t *pack_idx_oid(const struct pack_idx *idx,
					  uint32_t idx_pos)
{
	return pack_ids_at(&idx->ids, idx_pos);
}

/*
 * Returns the offset of an object in the pack. Returns UINT64_MAX if the index
 * is corrupt and lacks the 64-bit offset.
 */
uint64_t pack_idx_offset(const struct pack_idx *idx, uint32_t idx_pos);

/*
 * Prefetches the memory that pack_idx_offset() will read for the object at
 * idx_pos.
 */
static inline void pack_idx_prefetch(const struct pack_idx *idx,
				     uint32_t idx_pos)
{
	if (idx->off32)
		__builtin_prefetch(idx->off32 + 4 * (size_t)idx_pos);
}

/*
 * Returns the CRC-32 of the bytes that the object's entry has in the pack.
 * Returns 0 for an index of version 1.
 */
uint32_t pack_idx_crc(const struct pack_idx *idx, uint32_t idx_pos);

/*
 * Finds an object by its raw id. Returns true with its position in *idx_pos, or
 * false if the pack does not have it.
 */
static inline bool pack_idx_find(const struct pack_idx *idx, const uint8_t *raw,
				 uint32_t *idx_pos)
{
	return pack_ids_find(&idx->ids, raw, idx_pos);
}

/* Finds objects by a prefix of their id, like pack_ids_find_prefix(). */
static inline void pack_idx_find_prefix(const struct pack_idx *idx,
					const struct oid *prefix,
					size_t hex_len, uint32_t *first,
					uint32_t *last)
{
	pack_ids_find_prefix(&idx->ids, prefix, hex_len, first, last);
}

/*
 * Verifies the order of ids (equal ids are valid), their fanout ranges, the
 * existence of 64-bit offsets, and the checksum of the file. Returns 0,
 * ERR_CORRUPT or ERR_NOMEM.
 */
int pack_idx_verify(const struct pack_idx *idx, struct error *err);

/* An object of a pack that is being written. */
struct pack_idx_entry {
	const uint8_t *oid; /* raw id, borrowed */
	uint64_t offset;    /* offset in the pack */
	/* CRC-32 of the entry's bytes in the pack */
	uint32_t crc;
};

/* Options for writing a pack index. */
struct pack_idx_format {
	unsigned version; /* 1 or 2 */
	/*
	 * The smallest offset that an index of version 2 stores with 64 bits;
	 * at most 2^31. Tests set a small number, to get 64-bit offsets without
	 * a large pack.
	 *
	 * 0: version 2 uses 2^31, and version 1 can have all offsets that fit
	 * in 32 bits. Not 0: if an offset reaches the number, version 2 is
	 * written, even if `version` is 1.
	 */
	uint32_t off64_from;
};

/*
 * Appends an index file for `entries`, which must be sorted by id. Returns 0,
 * or a negative error code. Version 1 with an offset beyond 4 GiB is
 * ERR_INVALID.
 */
int pack_idx_write_as(struct buf *out, const struct pack_idx_entry *entries,
		      uint32_t nr, const struct oid *pack_checksum,
		      const struct pack_idx_format *format, enum hash_algo algo,
		      struct error *err);

/*
 * Works like pack_idx_write_as(), with the usual format of version `version`.
 * Returns the codes of pack_idx_write_as().
 */
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
