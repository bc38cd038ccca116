/* SPDX-License-Identifier: MIT */
/*
 * Multi-pack-indexes: one table of ids for many packs, read.
 *
 * The file "multi-pack-index" in a pack directory, versions 1 and 2, all
 * numbers big-endian (gitformat-pack(5)):
 *
 *	"MIDX" | version | hash id | chunks C | base files 0 | packs 4
 *	table of contents of C chunks (base/chunk-format.h), in any order:
 *	PNAM  names of indexes, each with a NUL; padded with NULs to 4 bytes
 *	OIDF  256 x 4      fanout
 *	OIDL  nr x hash    ids, ascending
 *	OOFF  nr x 8       pack 4, offset in it 4
 *	LOFF  k x 8        optional: if it is there, an OOFF offset with the
 *	                   top bit set is a place in it
 *	RIDX  nr x 4       optional: midx_pos by bit_pos
 *	BTMP  packs x 8    optional: first bit_pos 4, number of bits 4
 *	checksum           hash
 *
 * `midx_pos` is an object's position among the ids. `midx_pack` is the place
 * of a pack's name; version 1 sorts names. `bit_pos` is a place in the
 * pseudo-pack: the packs behind each other, the preferred one first, of each
 * the objects that the file takes from it by offset. Packs whose copies all
 * lost against another pack's have no bits.
 *
 * Of the pack in pack/idx.h alone, with RIDX and BTMP:
 *
 *	000  4d494458 01 01 06 00 00000001   version 1, SHA-1, 6 chunks, 1 pack
 *	00c  504e414d 00000000 00000060      PNAM
 *	018  4f494446 00000000 00000094      OIDF
 *	024  4f49444c 00000000 00000494      OIDL
 *	030  4f4f4646 00000000 000004a8      OOFF
 *	03c  52494458 00000000 000004b0      RIDX
 *	048  42544d50 00000000 000004b4      BTMP
 *	054  00000000 00000000 000004bc
 *	060  7061636b 2d646530 34313234 30316634 61396535
 *	074  66303534 31316634 34656166 39633836 64343630
 *	088  39363734 362e6964 78000000      "pack-de04[...]6746.idx"
 *	094  00000000 x 206                  first bytes 00 to cd: none
 *	3cc  00000001 x 50                   ce to ff: one
 *	494  ce013625 030ba8db a906f756 967f9e9c a394464a
 *	4a8  00000000 0000000c               pack 0, offset 12
 *	4b0  00000000                        bit 0: midx_pos 0
 *	4b4  00000000 00000001               pack 0: from bit 0, one bit
 *	4bc  33a97e4e cd98830d 9c3b6bdd 3959da36 d2065bf5
 *
 * A file may be a layer of a chain (odb/odb-midx.h). It says nothing of the
 * layers below but in RIDX and BTMP, whose midx_pos and bit_pos run through the
 * chain, those of the lowest layer first; here they are the file's own.
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

/* A parsed file. Immutable; borrows its bytes. */
struct pack_midx {
	const uint8_t *bytes; /* the whole file, borrowed */
	size_t len;
	enum hash_algo algo;
	unsigned version; /* 1 or 2 */
	uint32_t nr;      /* objects */
	uint32_t base_nr; /* objects of the layers below; the caller's, 0 after
			     parsing */
	uint32_t pack_nr;
	const char **names; /* owned array: by midx_pack, "pack-<hex>.idx";
			       each points into bytes */
	struct pack_ids ids;
	const uint8_t *objects; /* OOFF */
	const uint8_t *off64;   /* LOFF, or NULL */
	uint32_t off64_nr;
	const uint8_t *order;    /* RIDX: nr be32, or NULL */
	const uint8_t *spans;    /* BTMP: pack_nr x 2 be32, or NULL */
	const uint8_t *checksum; /* hash_len() bytes */
	char *name;              /* owned: file name for messages */
};

/*
 * Check and take apart the `len` bytes of a file: chunks and their sizes, an
 * ascending fanout, names that end, are no paths, and are sorted where they
 * have to be. Not checked here, being O(nr): order of ids, that packs and
 * 64-bit offsets exist, what RIDX and BTMP say, and the checksum
 * (pack_midx_verify(), pack_midx_order_init()). `name` is for messages, copied.
 * Returns 0, ERR_CORRUPT, ERR_UNSUPPORTED (a version, another hash, base
 * files) or ERR_NOMEM with *midx zeroed.
 */
int pack_midx_parse(struct pack_midx *midx, const void *bytes, size_t len,
		    enum hash_algo algo, const char *name, struct error *err);
void pack_midx_release(struct pack_midx *midx);

/* Raw id of an object; points into the file. midx_pos < nr. */
static inline const uint8_t *pack_midx_oid(const struct pack_midx *midx,
					   uint32_t midx_pos)
{
	return pack_ids_at(&midx->ids, midx_pos);
}

/* Find an id. As pack_ids_find(). */
static inline bool pack_midx_find(const struct pack_midx *midx,
				  const uint8_t *raw, uint32_t *midx_pos)
{
	return pack_ids_find(&midx->ids, raw, midx_pos);
}

/* The pack an object is taken from; pack_nr or more in a corrupt file. */
uint32_t pack_midx_pack(const struct pack_midx *midx, uint32_t midx_pos);

/* Offset of the object in that pack; UINT64_MAX in a corrupt file. */
uint64_t pack_midx_offset(const struct pack_midx *midx, uint32_t midx_pos);

/* Place of the name of an index; false when it is not there. O(packs). */
bool pack_midx_find_pack(const struct pack_midx *midx, const char *idx_name,
			 uint32_t *midx_pack);

/* The bits of one pack. */
struct pack_midx_span {
	uint32_t first; /* bit_pos */
	uint32_t nr;    /* 0: no object is taken from it */
};

/* The pseudo-pack. Immutable; borrows the midx (and a .rev file's bytes). */
struct pack_midx_order {
	const struct pack_midx *midx;
	const uint8_t *table;         /* nr be32: midx_pos by bit_pos */
	struct pack_midx_span *spans; /* owned: by midx_pack */
	uint32_t preferred;           /* midx_pack of bit 0; 0 without bits */
};

/*
 * Read and check the order, from RIDX or, where there is none, from a file
 * multi-pack-index-<checksum>.rev, whose bytes the caller gives (`rev` NULL:
 * none). Every pack's objects lie together and by offset, so that it is a
 * permutation (some 3 ns per object). 0, ERR_MISSING when there is no order,
 * ERR_CORRUPT or ERR_NOMEM with *order zeroed.
 */
int pack_midx_order_init(struct pack_midx_order *order,
			 const struct pack_midx *midx, const void *rev,
			 size_t rev_len, struct error *err);
void pack_midx_order_release(struct pack_midx_order *order);

/*
 * The same in constant time, from RIDX and BTMP: what a damaged disk has
 * changed in RIDX is not found. 0, 1 with *order zeroed when there are not
 * both, ERR_CORRUPT when BTMP is no division of the bits, or ERR_NOMEM.
 */
int pack_midx_order_init_unproven(struct pack_midx_order *order,
				  const struct pack_midx *midx,
				  struct error *err);

/* Do what that has left out: as pack_midx_order_init(). */
int pack_midx_order_prove(const struct pack_midx_order *order,
			  struct error *err);

/* midx_pos of a bit < nr. */
static inline uint32_t pack_midx_order_pos(const struct pack_midx_order *order,
					   uint32_t bit_pos)
{
	uint32_t pos = load_be32(order->table + 4 * (size_t)bit_pos) -
		       order->midx->base_nr;

	/* Damaged, and not proven. */
	return pos < order->midx->nr ? pos : 0;
}

/*
 * The bit of an object, searched by its offset among its pack's; false in a
 * corrupt file.
 */
bool pack_midx_order_find(const struct pack_midx_order *order,
			  uint32_t midx_pos, uint32_t *bit_pos);

#endif
