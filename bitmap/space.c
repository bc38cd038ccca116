/* SPDX-License-Identifier: MIT */
/* Bits, ids and numbers of the objects of an index. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bitmap/space.h"

uint32_t bitmap_space_nr(const struct bitmap_space *space)
{
	return space->midx ? space->midx->midx.nr : space->pack->pack->idx.nr;
}

const uint8_t *bitmap_space_id(const struct bitmap_space *space,
			       uint32_t idx_pos)
{
	return space->midx ? pack_midx_oid(&space->midx->midx, idx_pos)
			   : pack_idx_oid(&space->pack->pack->idx, idx_pos);
}

bool bitmap_space_find(const struct bitmap_space *space, const uint8_t *raw,
		       uint32_t *idx_pos)
{
	return space->midx
		       ? pack_midx_find(&space->midx->midx, raw, idx_pos)
		       : pack_idx_find(&space->pack->pack->idx, raw, idx_pos);
}

uint32_t bitmap_space_idx_pos(const struct bitmap_space *space,
			      uint32_t bit_pos)
{
	return space->midx ? pack_midx_order_pos(space->order, bit_pos)
			   : pack_rev_idx_pos(space->rev, bit_pos);
}

bool bitmap_space_bit_of(const struct bitmap_space *space, uint32_t idx_pos,
			 uint32_t *bit_pos)
{
	if (space->midx)
		return pack_midx_order_find(space->order, idx_pos, bit_pos);
	return pack_rev_find(space->rev,
			     pack_idx_offset(&space->pack->pack->idx, idx_pos),
			     bit_pos);
}

bool bitmap_space_obj(const struct bitmap_space *space, uint32_t idx_pos,
		      uint32_t *obj_pos)
{
	if (space->midx)
		return odb_midx_pos(space->odb, space->midx, idx_pos, obj_pos);
	*obj_pos = space->pack->first_pos + idx_pos;
	return true;
}

int bitmap_space_obj_of_bit(uint32_t *obj_pos, const struct bitmap_space *space,
			    uint32_t bit_pos, struct error *err)
{
	uint32_t idx_pos = bitmap_space_idx_pos(space, bit_pos);
	char hex[OID_MAX_HEX_LEN + 1];

	if (bitmap_space_obj(space, idx_pos, obj_pos))
		return 0;
	return error_set(err, ERR_CORRUPT,
			 "%s: object %s is not in the pack that is named",
			 space->midx->path,
			 oid_raw_to_hex(hex, bitmap_space_id(space, idx_pos),
					space->odb->algo));
}

void bitmap_space_prepare(const struct bitmap_space *space)
{
	if (space->midx)
		odb_midx_table(space->odb, space->midx);
}

bool bitmap_space_idx(const struct bitmap_space *space,
		      struct objspace *objects, uint32_t obj_pos,
		      uint32_t *idx_pos)
{
	struct oid oid;

	if (space->pack && obj_pos >= space->pack->first_pos &&
	    obj_pos - space->pack->first_pos < space->pack->pack->idx.nr) {
		*idx_pos = obj_pos - space->pack->first_pos;
		return true;
	}
	objspace_oid(&oid, objects, obj_pos);
	return bitmap_space_find(space, oid.bytes, idx_pos);
}

bool bitmap_space_bit(const struct bitmap_space *space,
		      struct objspace *objects, uint32_t obj_pos,
		      uint32_t *bit_pos)
{
	uint32_t idx_pos;

	return bitmap_space_idx(space, objects, obj_pos, &idx_pos) &&
	       bitmap_space_bit_of(space, idx_pos, bit_pos);
}

const struct odb_pack *bitmap_space_locate(const struct bitmap_space *space,
					   uint32_t bit_pos, uint64_t *offset)
{
	const struct pack_midx *midx;
	uint32_t idx_pos, pack;

	if (space->pack) {
		*offset = pack_rev_offset(space->rev, bit_pos);
		return space->pack;
	}
	midx = &space->midx->midx;
	idx_pos = pack_midx_order_pos(space->order, bit_pos);
	*offset = pack_midx_offset(midx, idx_pos);
	pack = pack_midx_pack(midx, idx_pos);
	if (pack >= midx->pack_nr) /* damaged: there is nothing at */
		*offset = UINT64_MAX, pack = 0;
	return &space->odb->packs[space->midx->pack_nrs[pack]];
}

static int cmp_parts(const void *a, const void *b)
{
	const struct bitmap_space_part *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

int bitmap_space_parts(struct bitmap_space_part **parts, size_t *nr,
		       const struct bitmap_space *space)
{
	const struct odb_midx *om = space->midx;
	uint32_t pack_nr = om ? om->midx.pack_nr : 1;

	*nr = 0;
	*parts = mem_alloc(pack_nr, sizeof(**parts));
	if (!*parts)
		return ERR_NOMEM;
	for (uint32_t i = 0; om && i < pack_nr; i++) {
		const struct pack_midx_span *span = &space->order->spans[i];

		if (span->nr)
			(*parts)[(*nr)++] = (struct bitmap_space_part){
				&space->odb->packs[om->pack_nrs[i]],
				span->first, span->nr};
	}
	if (!om)
		(*parts)[(*nr)++] = (struct bitmap_space_part){
			space->pack, 0, space->pack->pack->idx.nr};
	if (*nr)
		qsort(*parts, *nr, sizeof(**parts), cmp_parts);
	return 0;
}

static int fill_midx_table(struct bitmap_space_table *table,
			   const struct bitmap_space *space)
{
	const uint32_t *odb_pos = odb_midx_table(space->odb, space->midx);
	uint32_t nr = bitmap_space_nr(space);

	table->nr = space->odb->packed_nr;
	table->bits = mem_alloc(table->nr, sizeof(*table->bits));
	if (!odb_pos || !table->bits)
		return ERR_NOMEM;
	memset(table->bits, 0xff, (size_t)table->nr * sizeof(*table->bits));
	for (uint32_t bit = 0; bit < nr; bit++) {
		uint32_t obj_pos = odb_pos[bitmap_space_idx_pos(space, bit)];

		if (obj_pos != ODB_MIDX_WRONG)
			table->bits[obj_pos] = bit;
	}
	return 0;
}

int bitmap_space_table_init(struct bitmap_space_table *table,
			    const struct bitmap_space *space)
{
	int ret = 0;

	*table = (struct bitmap_space_table){0};
	if (space->midx) {
		ret = fill_midx_table(table, space);
	} else {
		table->first = space->pack->first_pos;
		table->bits = pack_rev_invert(space->rev);
		table->nr = space->pack->pack->idx.nr;
		ret = table->bits ? 0 : ERR_NOMEM;
	}
	if (ret < 0)
		bitmap_space_table_release(table);
	return ret;
}

void bitmap_space_table_release(struct bitmap_space_table *table)
{
	free(table->bits);
	*table = (struct bitmap_space_table){0};
}
