/* SPDX-License-Identifier: MIT */
/*
 * The meaning of the bits of an index. A bit is an object of one pack, in the
 * order of the pack. Or it is an object of a multi-pack-index, in the order of
 * its pseudo-pack (pack/midx.h). Or it is an object of a chain of these, with
 * the layers one after the other from the lowest on.
 *
 * 	bit_pos   position of an object's bit
 * 	idx_pos   position of its id among the sorted ids: of the pack's
 * 	          index, or of the multi-pack-index; in a chain, after those
 * 	          of the layers below
 * 	obj_pos   number in a walk (walk/objspace.h)
 *
 * Other code need not distinguish these cases, except to find the bytes of an
 * object.
 */
#ifndef BITMAP_SPACE_H
#define BITMAP_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "odb/odb-midx.h"
#include "odb/odb.h"
#include "pack/midx.h"
#include "walk/objspace.h"

/* A small value. All pointers are borrowed. */
struct bitmap_space {
	const struct odb *odb;
	/* the indexed pack; NULL: there is a midx */
	const struct odb_pack *pack;
	const struct pack_rev *rev; /* of the pack */
	/* of the snapshot; NULL: there is a pack */
	struct odb_midx *midx;
	const struct pack_midx_order *order; /* of the midx */
	/* of the layers below; NULL: none */
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

/* Returns the number of objects: bits and idx_pos are [0, nr). */
uint32_t bitmap_space_nr(const struct bitmap_space *space);

/*
 * Returns the number of objects in the layers below. This is the first bit and
 * idx_pos of the topmost layer's own objects.
 */
uint32_t bitmap_space_base_nr(const struct bitmap_space *space);

/* Returns the raw id of an object, in the index. */
const uint8_t *bitmap_space_id(const struct bitmap_space *space,
			       uint32_t idx_pos);

/* Finds an id. Returns false if it is not in the index. */
bool bitmap_space_find(const struct bitmap_space *space, const uint8_t *raw,
		       uint32_t *idx_pos);

/* Returns the idx_pos of the object of a bit. O(1). */
uint32_t bitmap_space_idx_pos(const struct bitmap_space *space,
			      uint32_t bit_pos);

/*
 * Finds the bit of an object, by a search for its offset. Returns false if the
 * index contradicts itself.
 */
bool bitmap_space_bit_of(const struct bitmap_space *space, uint32_t idx_pos,
			 uint32_t *bit_pos);

/*
 * Sets *obj_pos to the number of the indexed copy of an object. It may differ
 * from the canonical number if packs outside the index have the object too.
 * Returns false if the index is wrong: a multi-pack-index names a pack without
 * the object.
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
 * Makes bitmap_space_obj() fast, at the cost of a pass over all objects. This
 * is useful for many lookups. If memory runs out, lookups stay slow.
 */
void bitmap_space_prepare(const struct bitmap_space *space);

/*
 * Find the idx_pos, or the bit, of an object of a walk. Return false if it is
 * not indexed.
 */
bool bitmap_space_idx(const struct bitmap_space *space,
		      struct objspace *objects, uint32_t obj_pos,
		      uint32_t *idx_pos);
bool bitmap_space_bit(const struct bitmap_space *space,
		      struct objspace *objects, uint32_t obj_pos,
		      uint32_t *bit_pos);

/*
 * Returns the pack and the offset of the indexed copy of an object. If the
 * index is damaged, no entry is at that offset.
 */
const struct odb_pack *bitmap_space_locate(const struct bitmap_space *space,
					   uint32_t bit_pos, uint64_t *offset);

/* The bits of one pack, in the order of its offsets. */
struct bitmap_space_part {
	/* borrowed from the snapshot */
	const struct odb_pack *pack;
	/* bit_pos [first, first + nr) */
	uint32_t first, nr;
};

/*
 * Lists the parts in the order of their bits. *parts is malloc()ed and has *nr
 * elements; parts without bits are omitted. In the part of a pack a bit is
 * first + pack_pos. In a multi-pack-index a pack may have more objects than
 * bits. Returns 0 or ERR_NOMEM.
 */
int bitmap_space_parts(struct bitmap_space_part **parts, size_t *nr,
		       const struct bitmap_space *space);

/* A table of bits by obj_pos, for many lookups. */
struct bitmap_space_table {
	/* owned: by obj_pos - first; UINT32_MAX: look it up */
	uint32_t *bits;
	uint32_t first, nr;
};

/*
 * Makes the table, in one pass over all objects. Returns 0, or ERR_NOMEM with
 * *table zeroed.
 */
int bitmap_space_table_init(struct bitmap_space_table *table,
			    const struct bitmap_space *space);
void bitmap_space_table_release(struct bitmap_space_table *table);

/* Works like bitmap_space_bit(). */
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
