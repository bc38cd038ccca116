/* SPDX-License-Identifier: MIT */
/*
 * What the bits of an index stand for: the objects of one pack in their order
 * there, or those of a multi-pack-index in the order of its pseudo-pack
 * (pack/midx.h), or those of a chain of them, one layer behind the other from
 * the lowest on.
 *
 *	bit_pos   place of an object's bit
 *	idx_pos   place of its id among the sorted ids: of the pack's index, or
 *	          of the multi-pack-index; in a chain, behind those of the
 *	          layers below
 *	obj_pos   number in a walk (walk/objspace.h)
 *
 * Nothing above this file needs to know which of these it is, except to find
 * the bytes of an object.
 */
#ifndef BITMAP_SPACE_H
#define BITMAP_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "odb/odb-midx.h"
#include "odb/odb.h"
#include "pack/midx.h"
#include "walk/objspace.h"

/* A small value; borrows all of it. */
struct bitmap_space {
	const struct odb *odb;
	const struct odb_pack *pack; /* the indexed pack; NULL: a midx is */
	const struct pack_rev *rev;  /* of the pack */
	struct odb_midx *midx;       /* of the snapshot; NULL: a pack is */
	const struct pack_midx_order *order; /* of the midx */
	const struct bitmap_space *base;     /* of the layers below; NULL: none
					      */
};

static inline struct bitmap_space bitmap_space_of_pack(
	const struct odb *odb, const struct odb_pack *pack,
	const struct pack_rev *rev)
{
	return (struct bitmap_space){.odb = odb, .pack = pack, .rev = rev};
}

static inline struct bitmap_space bitmap_space_of_midx(
	const struct odb *odb, struct odb_midx *midx,
	const struct pack_midx_order *order)
{
	return (struct bitmap_space){.odb = odb, .midx = midx, .order = order};
}

/* Number of objects: bits and idx_pos are [0, nr). */
uint32_t bitmap_space_nr(const struct bitmap_space *space);

/*
 * Objects of the layers below: the first bit and idx_pos of the topmost
 * layer's own.
 */
uint32_t bitmap_space_base_nr(const struct bitmap_space *space);

/* Raw id of an object; points into the index. */
const uint8_t *bitmap_space_id(const struct bitmap_space *space,
			       uint32_t idx_pos);

/* Find an id; false when the index does not have it. */
bool bitmap_space_find(const struct bitmap_space *space, const uint8_t *raw,
		       uint32_t *idx_pos);

/* The object of a bit. O(1). */
uint32_t bitmap_space_idx_pos(const struct bitmap_space *space,
			      uint32_t bit_pos);

/*
 * The bit of an object; false in an index that contradicts itself. A search by
 * offset.
 */
bool bitmap_space_bit_of(const struct bitmap_space *space, uint32_t idx_pos,
			 uint32_t *bit_pos);

/*
 * The number of an object: of the copy that is indexed, which need not be the
 * canonical one when packs outside the index have it too. False when the index
 * is wrong about it: a multi-pack-index that names a pack that does not have
 * the object.
 */
bool bitmap_space_obj(const struct bitmap_space *space, uint32_t idx_pos,
		      uint32_t *obj_pos);

/* As bitmap_space_obj(); false is ERR_CORRUPT, with a message. */
int bitmap_space_obj_of_bit(uint32_t *obj_pos, const struct bitmap_space *space,
			    uint32_t bit_pos, struct error *err);

/*
 * Make bitmap_space_obj() fast, at the cost of a pass over all objects: worth
 * it for many. Out of memory, it stays slow.
 */
void bitmap_space_prepare(const struct bitmap_space *space);

/*
 * The idx_pos, or the bit, of an object of a walk; false when it is not
 * indexed.
 */
bool bitmap_space_idx(const struct bitmap_space *space,
		      struct objspace *objects, uint32_t obj_pos,
		      uint32_t *idx_pos);
bool bitmap_space_bit(const struct bitmap_space *space,
		      struct objspace *objects, uint32_t obj_pos,
		      uint32_t *bit_pos);

/*
 * Where the indexed copy of an object lies: an offset of no entry when the
 * index is damaged there.
 */
const struct odb_pack *bitmap_space_locate(const struct bitmap_space *space,
					   uint32_t bit_pos, uint64_t *offset);

/* The bits of one pack, in the order of its offsets. */
struct bitmap_space_part {
	const struct odb_pack *pack; /* borrowed from the snapshot */
	uint32_t first, nr;          /* bit_pos [first, first + nr) */
};

/*
 * The parts that have bits, in the order of bits: *parts is malloc()ed for the
 * caller, *nr of them. In one of a pack a bit is first + pack_pos; in one of a
 * multi-pack-index the pack may have more objects than bits. 0 or ERR_NOMEM.
 */
int bitmap_space_parts(struct bitmap_space_part **parts, size_t *nr,
		       const struct bitmap_space *space);

/* Bits by number, for who asks for many. */
struct bitmap_space_table {
	uint32_t *bits; /* owned: by obj_pos - first; UINT32_MAX: look it up */
	uint32_t first, nr;
};

/* Make it, in one pass over all objects: 0 or ERR_NOMEM with *table zeroed. */
int bitmap_space_table_init(struct bitmap_space_table *table,
			    const struct bitmap_space *space);
void bitmap_space_table_release(struct bitmap_space_table *table);

/* As bitmap_space_bit(). */
static inline bool bitmap_space_table_bit(
	const struct bitmap_space_table *table,
	const struct bitmap_space *space, struct objspace *objects,
	uint32_t obj_pos, uint32_t *bit_pos)
{
	if (obj_pos >= table->first && obj_pos - table->first < table->nr) {
		*bit_pos = table->bits[obj_pos - table->first];
		if (*bit_pos != UINT32_MAX)
			return true;
	}
	return bitmap_space_bit(space, objects, obj_pos, bit_pos);
}

#endif
