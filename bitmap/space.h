/* SPDX-License-Identifier: MIT */
/*
 * The meaning of the bits of an index. A bit is one of these:
 * - an object of one pack, in the order of the pack;
 * - an object of a multi-pack-index, in the order of its pseudo-pack
 *   (pack/midx.h);
 * - an object of a chain of multi-pack-indexes, layer after layer from the
 *   lowest on.
 *
 *	bit_pos   position of an object's bit
 *	idx_pos   position of its id among the sorted ids: of the pack's
 *	          index, or of the multi-pack-index; in a chain, after those
 *	          of the layers below
 *	obj_pos   number in a walk (trees/objspace.h)
 *
 * Other code does not distinguish one pack, a multi-pack-index and a chain,
 * except to find the bytes of an object.
 */
#ifndef BITMAP_SPACE_H
#define BITMAP_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "odb/odb-midx.h"
#include "odb/odb.h"
#include "pack/midx.h"
#include "trees/objspace.h"

/*
 * The meaning of the bits of an index; passed by value. All pointers are
 * borrowed.
 */
struct bitmap_space {
	const struct odb *odb;
	/* the indexed pack; NULL: the index belongs to `midx` */
	const struct odb_pack *pack;
	const struct pack_rev *rev; /* the order of `pack` */
	/*
	 * the indexed multi-pack-index of the snapshot; NULL: the index belongs
	 * to `pack`
	 */
	struct odb_midx *midx;
	const struct pack_midx_order *order; /* the order of `midx` */
	/* the bits of the layers below; NULL: there are none */
	const struct bitmap_space *base;
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

/* Returns the number of objects. Bits and idx_pos are less than this number. */
uint32_t bitmap_space_nr(const struct bitmap_space *space);

/*
 * Returns the number of objects in the layers below the topmost one. In the
 * topmost layer, bits and idx_pos begin with this number.
 */
uint32_t bitmap_space_base_nr(const struct bitmap_space *space);

/*
 * Returns the raw id of an object. The id points into the mapped .idx or
 * multi-pack-index.
 */
const uint8_t *bitmap_space_id(const struct bitmap_space *space,
			       uint32_t idx_pos);

/*
 * Sets *idx_pos to the position of an id. Returns false if the index lacks the
 * id.
 */
bool bitmap_space_find(const struct bitmap_space *space, const uint8_t *raw,
		       uint32_t *idx_pos);

/* Returns the idx_pos of the object that a bit stands for. O(1). */
uint32_t bitmap_space_idx_pos(const struct bitmap_space *space,
			      uint32_t bit_pos);

/*
 * Finds the bit of an object, by searching for the object's offset in the pack.
 * Returns false if the .idx, .rev or multi-pack-index contradicts itself.
 */
bool bitmap_space_bit_of(const struct bitmap_space *space, uint32_t idx_pos,
			 uint32_t *bit_pos);

/*
 * Sets *obj_pos to the walk's number for the object at idx_pos. If the object
 * is in several packs, this is the number of the copy that the index refers to.
 * (objspace_find() may return the number of another copy.) Returns false if the
 * multi-pack-index is wrong: it names a pack that lacks the object.
 */
bool bitmap_space_obj(const struct bitmap_space *space, uint32_t idx_pos,
		      uint32_t *obj_pos);

/*
 * Works like bitmap_space_obj() for a bit. Returns 0, or ERR_CORRUPT with a
 * message.
 */
int bitmap_space_obj_of_bit(uint32_t *obj_pos, const struct bitmap_space *space,
			    uint32_t bit_pos, struct error *err);

/*
 * Makes bitmap_space_obj() fast, at the cost of a pass over all objects. Useful
 * before many lookups. If memory runs out, nothing changes, and lookups stay
 * slow.
 */
void bitmap_space_prepare(const struct bitmap_space *space);

/*
 * bitmap_space_idx() finds the idx_pos of an object of a walk.
 * bitmap_space_bit() finds the bit of the object. Both return false if the
 * index lacks the object.
 */
bool bitmap_space_idx(const struct bitmap_space *space,
		      struct objspace *objects, uint32_t obj_pos,
		      uint32_t *idx_pos);
bool bitmap_space_bit(const struct bitmap_space *space,
		      struct objspace *objects, uint32_t obj_pos,
		      uint32_t *bit_pos);

/*
 * Returns the pack that has the indexed copy of an object, and sets *offset to
 * the copy's offset in this pack. If the index is damaged, there may be no
 * entry at this offset.
 */
const struct odb_pack *bitmap_space_locate(const struct bitmap_space *space,
					   uint32_t bit_pos, uint64_t *offset);

/*
 * A range of bits. They stand for the objects of one pack, in the order of
 * their offsets.
 */
struct bitmap_space_part {
	/* borrowed from the snapshot */
	const struct odb_pack *pack;
	/* the bits of the range are [first, first + nr), counted as bit_pos */
	uint32_t first, nr;
};

/*
 * Lists the packs' ranges of bits, in ascending order. *parts is malloc()ed and
 * has *nr elements; packs without bits are omitted. In the index of a single
 * pack, an object's bit is first + pack_pos, where pack_pos is the object's
 * position in the pack. In a multi-pack-index a pack may have more objects than
 * bits. Returns 0 or ERR_NOMEM.
 */
int bitmap_space_parts(struct bitmap_space_part **parts, size_t *nr,
		       const struct bitmap_space *space);

/*
 * A table that tells the bit position of each object (indexed by obj_pos). It
 * makes many lookups fast.
 */
struct bitmap_space_table {
	/*
	 * owned array, indexed by obj_pos - first: the bit_pos of the object.
	 * UINT32_MAX: this table does not have the bit_pos of the object, and
	 * bitmap_space_bit() must be called
	 */
	uint32_t *bits;
	uint32_t first, nr;
};

/*
 * Makes the table of the objects' bit positions, in one pass over all objects.
 * Returns 0 or ERR_NOMEM. After an error, *table is zeroed.
 */
int bitmap_space_table_init(struct bitmap_space_table *table,
			    const struct bitmap_space *space);
void bitmap_space_table_release(struct bitmap_space_table *table);

/*
 * Finds the bit position of an object, as bitmap_space_bit() does, with the
 * same return values. Looks into the table first.
 */
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
