/* SPDX-License-Identifier: MIT */
/*
 * Reads multi-pack-indexes: one table of ids for many packs.
 *
 * The file "multi-pack-index" in a pack directory, versions 1 and 2, all
 * numbers big-endian (gitformat-pack(5)):
 *
 * 	"MIDX"; 1 byte each: version, hash id, number of chunks C, number of
 * 	        base files (always 0); 4 bytes: number of packs
 * 	table of contents of C chunks (base/chunk-format.h), in any order:
 * 	PNAM  names of indexes, each with a NUL; padded with NULs to 4 bytes
 * 	OIDF  256 x 4      fanout
 * 	OIDL  nr x hash    ids, ascending
 * 	OOFF  nr x 8       4 bytes: midx_pack; 4 bytes: offset in the pack
 * 	LOFF  k x 8        optional: if present, an OOFF offset with the
 * 	                   top bit set is an index into LOFF
 * 	RIDX  nr x 4       optional: midx_pos by bit_pos
 * 	BTMP  packs x 8    optional; 4 bytes: first bit_pos; 4 bytes: number
 * 	                   of bits
 * 	checksum           hash
 *
 * `midx_pos` is the position of an object among the ids. `midx_pack` is the
 * position of a pack's name; version 1 sorts names. `bit_pos` is a position in
 * the pseudo-pack. The pseudo-pack is the concatenation of all packs, the
 * preferred pack first. Each pack contributes the objects that the file takes
 * from it, by offset. A pack has no bits if the file takes all its objects from
 * other packs.
 *
 * The file for the pack of pack/idx.h alone, with RIDX and BTMP:
 *
 * 	000  4d494458 01 01 06 00 00000001   version 1, SHA-1, 6 chunks, 1 pack
 * 	00c  504e414d 00000000 00000060      PNAM
 * 	018  4f494446 00000000 00000094      OIDF
 * 	024  4f49444c 00000000 00000494      OIDL
 * 	030  4f4f4646 00000000 000004a8      OOFF
 * 	03c  52494458 00000000 000004b0      RIDX
 * 	048  42544d50 00000000 000004b4      BTMP
 * 	054  00000000 00000000 000004bc
 * 	060  7061636b 2d646530 34313234 30316634 61396535
 * 	074  66303534 31316634 34656166 39633836 64343630
 * 	088  39363734 362e6964 78000000      "pack-de04[...]6746.idx"
 * 	094  00000000 x 206                  first bytes 00 to cd: none
 * 	3cc  00000001 x 50                   ce to ff: one
 * 	494  ce013625 030ba8db a906f756 967f9e9c a394464a
 * 	4a8  00000000 0000000c               pack 0, offset 12
 * 	4b0  00000000                        bit 0: midx_pos 0
 * 	4b4  00000000 00000001               pack 0: from bit 0, one bit
 * 	4bc  33a97e4e cd98830d 9c3b6bdd 3959da36 d2065bf5
 *
 * A file may be a layer of a chain (odb/odb-midx.h). Only its RIDX and BTMP
 * depend on the layers below: their midx_pos and bit_pos count from the lowest
 * layer on. In this interface they count from the start of the file itself.
 */
#ifndef PACK_MIDX_H
#define PACK_MIDX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "pack/ids.h"
#include "pack/idx.h"
#include "sys/progress.h"

/* A parsed multi-pack-index. Immutable; borrows the bytes of the file. */
struct pack_midx {
	const uint8_t *bytes; /* the whole file, borrowed */
	size_t len;
	enum hash_algo algo;
	unsigned version; /* 1 or 2 */
	uint32_t nr;      /* objects */
	/*
	 * number of objects in the lower layers; the caller sets this field
	 * after parsing
	 */
	uint32_t base_nr;
	uint32_t pack_nr;
	/*
	 * owned array, indexed by midx_pack: "pack-<hex>.idx"; each name points
	 * into the file
	 */
	const char **names;
	struct pack_ids ids;
	const uint8_t *objects; /* the chunk OOFF */
	const uint8_t *off64;   /* the chunk LOFF, or NULL */
	uint32_t off64_nr;
	/* the chunk RIDX: nr be32, or NULL */
	const uint8_t *order;
	/*
	 * the chunk BTMP: two be32 for each pack; NULL: there is no such chunk
	 */
	const uint8_t *spans;
	const uint8_t *checksum; /* checksum of the file */
	/* owned: file name for messages */
	char *name;
};

/*
 * Parses the `len` bytes of a multi-pack-index. Verifies the chunks and their
 * sizes, and that the fanout ascends. Verifies that pack names are terminated,
 * are no paths, and are sorted if the version requires it.
 *
 * This function does not make the checks whose time is proportional to the
 * number of objects: the order of ids, the existence of packs and of 64-bit
 * offsets, RIDX, BTMP and the checksum. pack_midx_verify() and
 * pack_midx_order_init() make these checks. `name` is for messages and is
 * copied.
 *
 * Returns 0, or ERR_CORRUPT, ERR_UNSUPPORTED (unknown version, other hash, base
 * files) or ERR_NOMEM. After an error, *midx is zeroed.
 */
int pack_midx_parse(struct pack_midx *midx, const void *bytes, size_t len,
		    enum hash_algo algo, const char *name, struct error *err);
void pack_midx_release(struct pack_midx *midx);

/*
 * Returns the raw id of an object, which points into the file. midx_pos must be
 * < nr.
 */
static inline const uint8_t *pack_midx_oid(const struct pack_midx *midx,
					   uint32_t midx_pos)
{
	return pack_ids_at(&midx->ids, midx_pos);
}

/*
 * Finds an object by its raw id. Returns true with its position in *midx_pos,
 * or false if the file does not have it.
 */
static inline bool pack_midx_find(const struct pack_midx *midx,
				  const uint8_t *raw, uint32_t *midx_pos)
{
	return pack_ids_find(&midx->ids, raw, midx_pos);
}

/*
 * Returns the midx_pack of the pack that has the object. The result is >=
 * pack_nr if the file is corrupt.
 */
uint32_t pack_midx_pack(const struct pack_midx *midx, uint32_t midx_pos);

/*
 * Returns the offset of the object in its pack, or UINT64_MAX if the file is
 * corrupt.
 */
uint64_t pack_midx_offset(const struct pack_midx *midx, uint32_t midx_pos);

/* The range of bits that belong to the objects of one pack. */
struct pack_midx_span {
	uint32_t first; /* bit_pos */
	/*
	 * number of bits of the pack; 0: the file takes no object from the pack
	 */
	uint32_t nr;
};

/*
 * The order of the pseudo-pack. Immutable; borrows the midx (and a .rev file's
 * bytes).
 */
struct pack_midx_order {
	const struct pack_midx *midx;
	/*
	 * array of `nr` big-endian numbers, indexed by bit_pos: the midx_pos of
	 * the object
	 */
	const uint8_t *table;
	/* owned array, indexed by midx_pack: the bits of the pack */
	struct pack_midx_span *spans;
	/*
	 * the midx_pack whose objects have the first bits; 0 if there are no
	 * bits
	 */
	uint32_t preferred;
};

/*
 * Reads and verifies the order of the pseudo-pack, from the chunk RIDX. If
 * there is no RIDX, the order comes from `rev`: the bytes of a file
 * multi-pack-index-<checksum>.rev (NULL: no file). Verifies two facts: the
 * objects of each pack are next to each other, and their offsets strictly
 * ascend. So no object is in the order twice. The order has as many entries as
 * there are objects, so it has each object exactly once. Verifying takes some 3
 * ns per object.
 *
 * Returns 0, or ERR_MISSING if there is no order, ERR_CORRUPT or ERR_NOMEM.
 * After an error, *order is zeroed.
 */
int pack_midx_order_init(struct pack_midx_order *order,
			 const struct pack_midx *midx, const void *rev,
			 size_t rev_len, struct error *err);
void pack_midx_order_release(struct pack_midx_order *order);

/*
 * Reads the order from RIDX and BTMP in constant time, without verifying RIDX.
 * Returns 0 on success, 1 if RIDX or BTMP is missing (*order is then zeroed),
 * ERR_CORRUPT if BTMP does not partition the bits, or ERR_NOMEM.
 */
int pack_midx_order_init_unproven(struct pack_midx_order *order,
				  const struct pack_midx *midx,
				  struct error *err);

/*
 * Verifies an order that pack_midx_order_init_unproven() has read. Returns 0,
 * ERR_CORRUPT or ERR_NOMEM.
 */
int pack_midx_order_prove(const struct pack_midx_order *order,
			  struct error *err);

/* Returns the midx_pos of the object that has the bit bit_pos < nr. */
static inline uint32_t pack_midx_order_pos(const struct pack_midx_order *order,
					   uint32_t bit_pos)
{
	uint32_t pos = load_be32(order->table + 4 * (size_t)bit_pos) -
		       order->midx->base_nr;

	/*
	 * An order that is not verified may name an object outside the file.
	 * The result is then 0, so that callers stay in range.
	 */
	return pos < order->midx->nr ? pos : 0;
}

/*
 * Finds the bit of the object at midx_pos, by a binary search among the
 * objects of its pack, which are sorted by offset. Returns false if the file
 * is corrupt.
 */
bool pack_midx_order_find(const struct pack_midx_order *order,
			  uint32_t midx_pos, uint32_t *bit_pos);

/*
 * The input of pack_midx_verify(): the indexes of the packs, and a callback
 * for problems.
 */

struct pack_midx_check {
	/*
	 * array indexed by midx_pack: the parsed index of the pack; NULL if the
	 * index cannot be opened
	 */
	const struct pack_idx *const *packs;
	/* Receives each problem as a line with stock Git's words. */
	void (*report)(void *ctx, const char *line);
	void *ctx;
	const struct progress_out *progress; /* or NULL */
};

/*
 * Verifies everything that pack_midx_parse() does not verify. These are the
 * checksum, the existence of all packs, the order of ids and their fanout
 * ranges, and the pack and offset of each object. RIDX and BTMP are verified if
 * they exist. Returns 0 if no problem was found, 1 if a problem was reported,
 * or ERR_NOMEM. O(nr log nr).
 */
int pack_midx_verify(const struct pack_midx *midx,
		     const struct pack_midx_check *check, struct error *err);

#endif
