/* SPDX-License-Identifier: MIT */
/*
 * The reverse index: the objects of a pack in the order of their offsets.
 *
 * `pack_pos` is the position of an object in that order. On disk (.rev), all
 * big-endian (gitformat-pack(5)):
 *
 * 	"RIDX" | version 1 | hash id: 1 SHA-1, 2 SHA-256
 * 	nr x 4      idx_pos of each object, in the order of the pack
 * 	pack checksum | own checksum
 *
 * The file of a pack with one object:
 *
 * 	00  52494458 00000001 00000001
 * 	0c  00000000
 * 	10  de041240 1f4a9e5f 05411f44 eaf9c86d 46096746
 * 	24  3ad96d08 cfcb2d8c 20a27595 b7adb9f1 cdc0b38a
 */
#ifndef PACK_REV_H
#define PACK_REV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pack/idx.h"

/*
 * A reverse index. Immutable once made; borrows the index (and the bytes of the
 * .rev file).
 */
struct pack_rev {
	const struct pack_idx *idx;
	/* the `nr` big-endian values of idx_pos in a .rev file, or NULL */
	const uint8_t *table;
	/* owned: the `nr` computed values of idx_pos, or NULL */
	uint32_t *owned;
	/* offset of the pack's trailer */
	uint64_t end;
};

/*
 * Parses the bytes of a .rev file in constant time. Verifies size, header and
 * pack checksum; returns 0 or ERR_CORRUPT. Until pack_rev_verify() has verified
 * the table, results of lookups may be wrong, but they are in range. `pack_len`
 * is the pack's length in bytes.
 */
int pack_rev_parse(struct pack_rev *rev, const struct pack_idx *idx,
		   uint64_t pack_len, const void *bytes, size_t len,
		   const char *name, struct error *err);

/*
 * Verifies that the offsets of the objects ascend in the order of the table, at
 * some 2 ns per object. Returns 0 or ERR_CORRUPT. For a computed table, always
 * returns 0.
 */
int pack_rev_verify(const struct pack_rev *rev, const char *name,
		    struct error *err);

/*
 * Computes a reverse index from a pack index, by a radix sort. Returns 0 or
 * ERR_NOMEM.
 */
int pack_rev_compute(struct pack_rev *rev, const struct pack_idx *idx,
		     uint64_t pack_len);
void pack_rev_release(struct pack_rev *rev);

/* Returns the idx_pos of the entry at pack_pos < nr. */
uint32_t pack_rev_idx_pos(const struct pack_rev *rev, uint32_t pack_pos);

/*
 * Prefetches the offset of the entry at pack_pos < nr. The offsets of
 * consecutive entries are scattered over the index.
 */
void pack_rev_prefetch(const struct pack_rev *rev, uint32_t pack_pos);

/*
 * Returns the offset in the pack of the entry at pack_pos. For pack_pos == nr,
 * returns the offset of the pack's trailer.
 */
uint64_t pack_rev_offset(const struct pack_rev *rev, uint32_t pack_pos);

/*
 * Finds the pack_pos of the entry that starts exactly at `offset`. Returns
 * false if there is none.
 */
bool pack_rev_find(const struct pack_rev *rev, uint64_t offset,
		   uint32_t *pack_pos);

/*
 * Finds the pack_pos of the entry that contains the byte at `offset`. Returns
 * false if no entry contains this byte.
 */
bool pack_rev_find_entry(const struct pack_rev *rev, uint64_t offset,
			 uint32_t *pack_pos);

/*
 * Works like pack_rev_find() for an entry whose pack_pos is less than `before`,
 * and probably close to it, such as a delta base. The search goes backwards
 * from `before` in growing steps.
 */
bool pack_rev_find_before(const struct pack_rev *rev, uint32_t before,
			  uint64_t offset, uint32_t *pack_pos);

/*
 * Works like pack_rev_find() for an entry whose pack_pos is probably close to
 * `near` <= nr. The search goes from `near` in growing steps.
 */
bool pack_rev_find_near(const struct pack_rev *rev, uint32_t near,
			uint64_t offset, uint32_t *pack_pos);

/*
 * Returns a malloc()ed array, indexed by idx_pos, of the pack_pos of each
 * object. Returns NULL if memory runs out.
 */
uint32_t *pack_rev_invert(const struct pack_rev *rev);

/*
 * Appends a whole .rev file. `idx_pos` has the idx_pos of each object in the
 * order of the pack. Returns 0 or a negative error code.
 */
int pack_rev_write(struct buf *out, const uint32_t *idx_pos, uint32_t nr,
		   const struct oid *pack_checksum, enum hash_algo algo,
		   struct error *err);

#endif
