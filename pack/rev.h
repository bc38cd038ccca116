/* SPDX-License-Identifier: MIT */
/*
 * The reverse index: objects of a pack in the order of their offsets.
 *
 * `pack_pos` is an object's position in that order. On disk (.rev), all
 * big-endian (gitformat-pack(5)):
 *
 *	"RIDX" | version 1 | hash id: 1 SHA-1, 2 SHA-256
 *	nr x 4      idx_pos of each object, in the order of the pack
 *	pack checksum | own checksum
 *
 * Of a pack with one object:
 *
 *	00  52494458 00000001 00000001
 *	0c  00000000
 *	10  de041240 1f4a9e5f 05411f44 eaf9c86d 46096746
 *	24  3ad96d08 cfcb2d8c 20a27595 b7adb9f1 cdc0b38a
 */
#ifndef PACK_REV_H
#define PACK_REV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pack/idx.h"

/* Immutable after opening; borrows the index (and the .rev file's bytes). */
struct pack_rev {
	const struct pack_idx *idx;
	const uint8_t *table; /* nr be32 of a .rev file, or NULL */
	uint32_t *owned;      /* nr computed positions, or NULL; owned */
	uint64_t end;         /* offset of the pack's trailer */
};

/*
 * Use the bytes of a .rev file. Checks size, header and pack checksum, in
 * constant time; ERR_CORRUPT otherwise. Whether the table is right shows
 * pack_rev_verify(): until then an answer may be wrong, but stays in range.
 * `pack_len` is the pack's length in bytes.
 */
int pack_rev_parse(struct pack_rev *rev, const struct pack_idx *idx,
		   uint64_t pack_len, const void *bytes, size_t len,
		   const char *name, struct error *err);

/*
 * Check that the table puts the index's offsets in order: some 2 ns per object.
 * 0 or ERR_CORRUPT. A computed one is right.
 */
int pack_rev_verify(const struct pack_rev *rev, const char *name,
		    struct error *err);

/* Compute from the index: one radix sort. 0 or ERR_NOMEM. */
int pack_rev_compute(struct pack_rev *rev, const struct pack_idx *idx,
		     uint64_t pack_len);
void pack_rev_release(struct pack_rev *rev);

/* idx_pos of the object at pack_pos < nr. */
uint32_t pack_rev_idx_pos(const struct pack_rev *rev, uint32_t pack_pos);

/*
 * Announce that the offset of an entry will be asked for, pack_pos < nr: one
 * after the other they are all over the index.
 */
void pack_rev_prefetch(const struct pack_rev *rev, uint32_t pack_pos);

/* Offset of the entry at pack_pos; pack_pos == nr gives the trailer's. */
uint64_t pack_rev_offset(const struct pack_rev *rev, uint32_t pack_pos);

/* pack_pos of the entry that starts exactly at `offset`; false if none. */
bool pack_rev_find(const struct pack_rev *rev, uint64_t offset,
		   uint32_t *pack_pos);

/*
 * As pack_rev_find() for an entry whose pack_pos is less than `before`,
 * probably not much (a delta's base): searched backwards in growing steps.
 */
bool pack_rev_find_before(const struct pack_rev *rev, uint32_t before,
			  uint64_t offset, uint32_t *pack_pos);

/*
 * A table of nr pack_pos by idx_pos, malloc()ed for the caller; NULL when out
 * of memory.
 */
uint32_t *pack_rev_invert(const struct pack_rev *rev);

/* Append a whole .rev file: idx_pos[] in pack order. 0 or negative. */
int pack_rev_write(struct buf *out, const uint32_t *idx_pos, uint32_t nr,
		   const struct oid *pack_checksum, enum hash_algo algo,
		   struct error *err);

#endif
