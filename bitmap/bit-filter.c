/* SPDX-License-Identifier: MIT */
/* Applies object filters (such as blob:none) to sets of objects. */
#include "bitmap/bit-filter.h"
#include "walk/filter-walk.h"
#include "walk/filtered.h"

static const enum object_type object_types[BITMAP_TYPE_NR] = {
	OBJ_COMMIT,
	OBJ_TREE,
	OBJ_BLOB,
	OBJ_TAG,
};

bool bitmap_filter_can(const struct filter *filter)
{
	return filter_is_empty(filter) || !filter_needs_paths(filter);
}

/* Removes blobs that exceed the filter's size limit. */
static int drop_large(const struct bitmap_filter *bf, struct bitset *packed,
		      struct error *err)
{
	struct bitset blobs;
	int ret = 0;

	if (bitset_init(&blobs, packed->bits) < 0)
		return error_nomem(err);
	bitmap_file_or_type(&blobs, bf->file, BITMAP_BLOBS);
	bitset_and(&blobs, packed);
	bitmap_space_prepare(&bf->space);
	for (size_t bit = bitset_next(&blobs, 0); ret >= 0 && bit < blobs.bits;
	     bit = bitset_next(&blobs, bit + 1)) {
		uint32_t obj_pos;

		ret = bitmap_space_obj_of_bit(&obj_pos, &bf->space,
					      (uint32_t)bit, err);
		if (!ret)
			ret = filter_takes(bf->filter, &bf->w->space,
					   bf->w->reader, obj_pos, OBJ_BLOB,
					   err);
		if (!ret)
			bitset_unset(packed, bit);
	}
	bitset_release(&blobs);
	return ret < 0 ? ret : 0;
}

/*
 * Adds to the set `spared` the wants that are in `packed`. These wants stay in
 * the result even if the filter would omit them. Returns 0 or ERR_NOMEM.
 */
static int find_spared(const struct bitmap_filter *bf, struct bitset *spared,
		       const struct bitset *by_obj, const struct bitset *packed,
		       struct error *err)
{
	uint32_t bit;

	if (bitset_init(spared, packed->bits) < 0)
		return error_nomem(err);
	for (size_t i = bitset_next(by_obj, 0); i < by_obj->bits;
	     i = bitset_next(by_obj, i + 1))
		if (bitmap_space_bit(&bf->space, &bf->w->space, (uint32_t)i,
				     &bit) &&
		    bitset_get(packed, bit))
			bitset_set(spared, bit);
	return 0;
}

static int filter_packed(const struct bitmap_filter *bf, struct bitset *packed,
			 const struct bitset *by_obj, struct error *err)
{
	struct bitset spared = BITSET_INIT;
	int ret = find_spared(bf, &spared, by_obj, packed, err);

	for (int i = 0; i < BITMAP_TYPE_NR && !ret; i++)
		if (!filter_takes_type(bf->filter, object_types[i]))
			bitmap_file_andnot_type(packed, bf->file, i);
	if (!ret && filter_needs_size(bf->filter))
		ret = drop_large(bf, packed, err);
	if (!ret)
		bitset_or(packed, &spared);
	bitset_release(&spared);
	return ret;
}

int bitmap_filter_apply(const struct bitmap_filter *bf, struct bitset *packed,
			struct walk_items *others, struct error *err)
{
	struct bitset spared = BITSET_INIT;
	int ret = filtered_spared(&spared, bf->w, bf->wants, bf->filter_wants,
				  err);

	if (!ret)
		ret = filter_packed(bf, packed, &spared, err);
	if (!ret)
		ret = filtered_items(others, bf->w, bf->filter, &spared, err);
	bitset_release(&spared);
	return ret;
}

void bitmap_filter_undecided(const struct bitmap_file *file,
			     const struct filter *filter, struct bitset *packed)
{
	for (int i = 0; packed->bits && i < BITMAP_TYPE_NR; i++)
		if (!filter_takes_all(filter, object_types[i]))
			bitmap_file_andnot_type(packed, file, i);
}
