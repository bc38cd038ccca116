/* SPDX-License-Identifier: MIT */
/* Converts between bits, ids and numbers of the objects of an index. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bitmap/space.h"

uint32_t bitmap_space_nr(const struct bitmap_space *space)
{
	return space->midx ? space->midx->midx.base_nr + space->midx->midx.nr
			   : space->pack->pack->idx.nr;
}

uint32_t bitmap_space_base_nr(const struct bitmap_space *space)
{
	return space->midx ? space->midx->midx.base_nr : 0;
}

/*
 * Returns the layer to which a position (bit_pos or idx_pos) belongs. *pos
 * becomes relative to this layer.
 */
static const struct bitmap_space *layer_of(const struct bitmap_space *space,
					   uint32_t *pos)
{
	while (*pos < space->midx->midx.base_nr)
		space = space->base;
	*pos -= space->midx->midx.base_nr;
	return space;
}

const uint8_t *bitmap_space_id(const struct bitmap_space *space,
			       uint32_t idx_pos)
{
	if (!space->midx)
		return pack_idx_oid(&space->pack->pack->idx, idx_pos);
	space = layer_of(space, &idx_pos);
	return pack_midx_oid(&space->midx->midx, idx_pos);
}

bool bitmap_space_find(const struct bitmap_space *space, const uint8_t *raw,
		       uint32_t *idx_pos)
{
	if (!space->midx)
		return pack_idx_find(&space->pack->pack->idx, raw, idx_pos);
	for (; space; space = space->base) {
		if (pack_midx_find(&space->midx->midx, raw, idx_pos)) {
			*idx_pos += space->midx->midx.base_nr;
			return true;
		}
	}
	return false;
}

uint32_t bitmap_space_idx_pos(const struct bitmap_space *space,
			      uint32_t bit_pos)
{
	if (!space->midx)
		return pack_rev_idx_pos(space->rev, bit_pos);
	space = layer_of(space, &bit_pos);
	return pack_midx_order_pos(space->order, bit_pos) +
	       space->midx->midx.base_nr;
}

bool bitmap_space_bit_of(const struct bitmap_space *space, uint32_t idx_pos,
			 uint32_t *bit_pos)
{
	if (!space->midx)
		return pack_rev_find(
			space->rev,
			pack_idx_offset(&space->pack->pack->idx, idx_pos),
			bit_pos);
	space = layer_of(space, &idx_pos);
	if (!pack_midx_order_find(space->order, idx_pos, bit_pos))
		return false;
	*bit_pos += space->midx->midx.base_nr;
	return true;
}

bool bitmap_space_obj(const struct bitmap_space *space, uint32_t idx_pos,
		      uint32_t *obj_pos)
{
	if (!space->midx) {
		*obj_pos = space->pack->first_pos + idx_pos;
		return true;
	}
	space = layer_of(space, &idx_pos);
	return odb_midx_pos(space->odb, space->midx, idx_pos, obj_pos);
}

int bitmap_space_obj_of_bit(uint32_t *obj_pos, const struct bitmap_space *space,
			    uint32_t bit_pos, struct error *err)
{
	uint32_t idx_pos = bitmap_space_idx_pos(space, bit_pos);
	char hex[OID_MAX_HEX_LEN + 1];

	if (bitmap_space_obj(space, idx_pos, obj_pos))
		return 0;
	return error_set(err, ERR_CORRUPT,
			 "%s: object %s is not in the pack that this "
			 "multi-pack-index names",
			 space->midx->path,
			 oid_raw_to_hex(hex, bitmap_space_id(space, idx_pos),
					space->odb->algo));
}

void bitmap_space_prepare(const struct bitmap_space *space)
{
	for (; space && space->midx; space = space->base)
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
	space = layer_of(space, &bit_pos);
	midx = &space->midx->midx;
	idx_pos = pack_midx_order_pos(space->order, bit_pos);
	*offset = pack_midx_offset(midx, idx_pos);
	pack = pack_midx_pack(midx, idx_pos);
	/*
	 * The index is damaged: no pack has this number. Return an offset at
	 * which no entry can be.
	 */
	if (pack >= midx->pack_nr)
		*offset = UINT64_MAX, pack = 0;
	return &space->odb->packs[space->midx->pack_nrs[pack]];
}

static int cmp_parts(const void *a, const void *b)
{
	const struct bitmap_space_part *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Appends the ranges of bits of one layer's packs to `parts`. */
static void add_parts(struct bitmap_space_part *parts, size_t *nr,
		      const struct bitmap_space *space)
{
	const struct odb_midx *om = space->midx;

	for (uint32_t i = 0; i < om->midx.pack_nr; i++) {
		const struct pack_midx_span *span = &space->order->spans[i];

		if (span->nr)
			parts[(*nr)++] = (struct bitmap_space_part){
				&space->odb->packs[om->pack_nrs[i]],
				om->midx.base_nr + span->first, span->nr};
	}
}

int bitmap_space_parts(struct bitmap_space_part **parts, size_t *nr,
		       const struct bitmap_space *space)
{
	const struct bitmap_space *layer;
	size_t most = space->pack ? 1 : 0;

	for (layer = space; layer && layer->midx; layer = layer->base)
		most += layer->midx->midx.pack_nr;
	*nr = 0;
	*parts = mem_alloc(most, sizeof(**parts));
	if (!*parts)
		return ERR_NOMEM;
	for (layer = space; layer && layer->midx; layer = layer->base)
		add_parts(*parts, nr, layer);
	if (space->pack)
		(*parts)[(*nr)++] = (struct bitmap_space_part){
			space->pack, 0, space->pack->pack->idx.nr};
	if (*nr)
		qsort(*parts, *nr, sizeof(**parts), cmp_parts);
	return 0;
}

/* Adds the bits of one layer's objects to the table. Returns 0 or ERR_NOMEM. */
static int fill_layer(struct bitmap_space_table *table,
		      const struct bitmap_space *space)
{
	const struct pack_midx *midx = &space->midx->midx;
	const uint32_t *odb_pos = odb_midx_table(space->odb, space->midx);

	if (!odb_pos)
		return ERR_NOMEM;
	for (uint32_t bit = 0; bit < midx->nr; bit++) {
		uint32_t at = odb_pos[pack_midx_order_pos(space->order, bit)];

		if (at != ODB_MIDX_WRONG)
			table->bits[at] = midx->base_nr + bit;
	}
	return 0;
}

static int fill_midx_table(struct bitmap_space_table *table,
			   const struct bitmap_space *space)
{
	int ret = 0;

	table->nr = space->odb->packed_nr;
	table->bits = mem_alloc(table->nr, sizeof(*table->bits));
	if (!table->bits)
		return ERR_NOMEM;
	memset(table->bits, 0xff, (size_t)table->nr * sizeof(*table->bits));
	for (; space && !ret; space = space->base)
		ret = fill_layer(table, space);
	return ret;
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
