/* SPDX-License-Identifier: MIT */
/*
 * Finds name hashes of objects that were found without them. This is done only
 * if the delta search needs name hashes, which is seldom.
 */
#include "packing/find.h"
#include "deltas/names.h"

/*
 * Returns whether the items need name hashes. Name hashes tell the delta search
 * which objects to compare. The search compares objects only if an object is
 * sent whole and deflated anew, or if the objects come from different packs.
 * Objects of one pack were already compared when the pack was made.
 */
static bool wants_names(const struct packing_items *items)
{
	for (size_t i = 0; i < items->nr; i++) {
		const struct packing_item *item = &items->items[i];

		if (!item->is_external &&
		    (item->how == PACKING_WHOLE ||
		     item->pack_nr != items->items[0].pack_nr))
			return true;
	}
	return false;
}

/*
 * Copy name hashes from the bitmap index to the items. Returns true if some
 * items are not in the index, and so get no name hash.
 */
static bool take_names(const struct pack_bitmap *pb,
		       struct packing_items *items)
{
	bool others = false;

	for (size_t i = 0; i < items->nr; i++) {
		struct packing_item *item = &items->items[i];
		uint32_t idx_pos;

		if (bitmap_space_idx(&pb->space, items->space, item->obj_pos,
				     &idx_pos))
			item->name_hash = bitmap_file_name_hash(&pb->file,
								idx_pos);
		else
			others = true;
	}
	return others;
}

/*
 * Copy name hashes to the items from the bitmap index, if there is one. Returns
 * 1 if some items still lack a name hash, 0 if none does, or a negative error
 * code.
 */
static int ask_index(const struct found *found, struct packing_items *items,
		     struct error *err)
{
	struct pack_bitmap *pb;
	bool others = true;
	int ret;

	/*
	 * Do not use the bitmap index if path hashes are needed: it stores name
	 * hashes only.
	 */
	if (found->grouping != PATH_GROUP_NONE || !found->request->use_bitmap)
		return true;
	ret = pack_bitmap_open(&pb, found->walk.odb, NULL);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret > 0 && pb->file.hash_cache)
		others = take_names(pb, items);
	pack_bitmap_close(pb);
	return others;
}

int found_name_items(const struct found *found, struct packing_items *items,
		     struct error *err)
{
	int ret = 0;

	if (found->unnamed && wants_names(items))
		ret = ask_index(found, items, err);
	return ret > 0 ? names_fill(items, found->grouping, err) : ret;
}
