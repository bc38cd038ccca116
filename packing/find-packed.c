/* SPDX-License-Identifier: MIT */
/*
 * Visits the objects to send that are in the set `packed`, with their bits,
 * types and name hashes.
 */
#include "packing/find.h"

bool found_bit(const struct found *found, uint32_t odb_pos, uint32_t *bit_pos)
{
	const struct bitmap_space *space = &found->space;
	const struct odb_pack *pack = space->pack;
	uint32_t idx_pos;

	if (!space->odb || odb_pos >= space->odb->packed_nr)
		return false;
	if (odb_pos - found->bits.first < found->bits.nr) {
		*bit_pos = found->bits.bits[odb_pos - found->bits.first];
		return true;
	}
	if (pack && odb_pos >= pack->first_pos &&
	    odb_pos - pack->first_pos < pack->pack->idx.nr)
		idx_pos = odb_pos - pack->first_pos;
	else if (!bitmap_space_find(space, odb_oid_raw(space->odb, odb_pos),
				    &idx_pos))
		return false;
	return bitmap_space_bit_of(space, idx_pos, bit_pos);
}

static bool is_written(const struct packing_items *items,
		       const struct item_index *item_of, uint32_t obj_pos)
{
	uint32_t item = item_index_get(item_of, obj_pos);

	return item != PACKING_NO_ITEM && !items->items[item].is_external;
}

bool found_is_item(const struct found *found, const struct packing_items *items,
		   const struct item_index *item_of, uint32_t obj_pos)
{
	const struct odb *odb = found->walk.odb;
	uint32_t bit, copy;

	if (is_written(items, item_of, obj_pos))
		return true;
	if (obj_pos >= found->walk.space.packed_nr)
		return false;
	/*
	 * If several packs have the object, the list of items has the position
	 * of only one copy, perhaps not of the copy `obj_pos`. The listed copy
	 * may be the one that a look-up of the id finds first, or the one that
	 * the bitmap index names. Check both.
	 */
	if (odb_find_raw(odb, odb_oid_raw(odb, obj_pos), &copy) &&
	    is_written(items, item_of, copy))
		return true;
	return found_bit(found, obj_pos, &bit) &&
	       !bitmap_space_obj_of_bit(&copy, &found->space, bit, NULL) &&
	       is_written(items, item_of, copy);
}

/*
 * If fewer than one object in FEW_RATIO is visited, the types are looked up one
 * by one.
 */
#define FEW_RATIO 1024

/*
 * The types of the objects in the bitmap index, by bit_pos. If many objects are
 * visited, the type bitmaps are expanded into plain sets.
 */
struct types {
	const struct pack_bitmap *pb;
	/*
	 * Owned: the set of each type. Empty, without memory, if few objects
	 * are visited.
	 */
	struct bitset of[BITMAP_TYPE_NR];
};

static int types_init(struct types *types, const struct pack_bitmap *pb,
		      size_t nr)
{
	*types = (struct types){.pb = pb};
	if (nr <= pb->file.object_nr / FEW_RATIO)
		return 0;
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		if (pack_bitmap_type_set(&types->of[i], pb, i) < 0)
			return ERR_NOMEM;
	return 0;
}

static void types_release(struct types *types)
{
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		bitset_release(&types->of[i]);
}

static enum object_type type_of(const struct types *types, uint32_t bit)
{
	if (!types->of[0].bits)
		return pack_bitmap_type(types->pb, bit);
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		if (bitset_get(&types->of[i], bit))
			return bitmap_object_type(i);
	return OBJ_NONE;
}

static int visit_indexed(const struct types *types, uint32_t bit,
			 int (*fn)(void *ctx, const struct walk_item *object),
			 void *ctx, struct error *err)
{
	const struct pack_bitmap *pb = types->pb;
	struct walk_item object = {
		.name_hash = bitmap_file_name_hash(
			&pb->file, pack_bitmap_idx_pos(pb, bit)),
		.type = (uint8_t)type_of(types, bit),
	};
	int ret = pack_bitmap_odb_pos(&object.obj_pos, pb, bit, err);

	if (ret < 0)
		return ret;
	return fn(ctx, &object) < 0 ? error_nomem(err) : 0;
}

/*
 * Visit the objects of `subset`. Types and name hashes come from the bitmap
 * index.
 */
static int each_indexed(const struct found *f, const struct bitset *subset,
			int (*fn)(void *ctx, const struct walk_item *object),
			void *ctx, struct error *err)
{
	size_t nr = bitset_count(subset);
	struct types types;
	int ret = types_init(&types, f->pb, nr) < 0 ? error_nomem(err) : 0;

	if (nr > f->pb->file.object_nr / 16)
		bitmap_space_prepare(&f->space);
	for (size_t bit = bitset_next(subset, 0); bit < subset->bits && !ret;
	     bit = bitset_next(subset, bit + 1))
		ret = visit_indexed(&types, (uint32_t)bit, fn, ctx, err);
	types_release(&types);
	return ret;
}

/*
 * Visit the objects of `subset`. Types are looked up in the pack, because a
 * prepared answer does not have them. There are no name hashes.
 */
static int each_near(const struct found *f, const struct bitset *subset,
		     int (*fn)(void *ctx, const struct walk_item *object),
		     void *ctx, struct error *err)
{
	for (size_t bit = bitset_next(subset, 0); bit < subset->bits;
	     bit = bitset_next(subset, bit + 1)) {
		struct walk_item object = {.name_hash = 0};
		enum object_type type;
		int ret = bitmap_space_obj_of_bit(&object.obj_pos, &f->space,
						  (uint32_t)bit, err);

		if (!ret)
			ret = odb_info_pos(f->walk.reader, object.obj_pos,
					   &type, NULL, err);
		if (ret < 0)
			return ret;
		object.type = (uint8_t)type;
		if (fn(ctx, &object) < 0)
			return error_nomem(err);
	}
	return 0;
}

int found_each_packed(const struct found *found, const struct bitset *subset,
		      int (*fn)(void *ctx, const struct walk_item *object),
		      void *ctx, struct error *err)
{
	if (bitset_is_empty(subset))
		return 0;
	if (found->pb)
		return each_indexed(found, subset, fn, ctx, err);
	if (found->near)
		return each_near(found, subset, fn, ctx, err);
	for (size_t i = 0; i < found->walked.nr; i++) {
		const struct walk_item *object = &found->walked.items[i];
		uint32_t bit;

		if (found_bit(found, object->obj_pos, &bit) &&
		    bitset_get(subset, bit) && fn(ctx, object) < 0)
			return error_nomem(err);
	}
	return 0;
}

bool found_is_uninteresting(const struct found *found, uint32_t odb_pos)
{
	const struct odb *odb = found->walk.odb;
	uint32_t bit;

	if (!found->pb) {
		if (odb->pack_nr > 1)
			odb_find_raw(odb, odb_oid_raw(odb, odb_pos), &odb_pos);
		return bitset_get(&found->uninteresting, odb_pos);
	}
	return found_bit(found, odb_pos, &bit) &&
	       bitset_get(&found->packed_uninteresting, bit);
}
