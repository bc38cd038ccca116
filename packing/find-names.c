/* SPDX-License-Identifier: MIT */
/*
 * Names for objects that were found without them. Few are asked for: of most
 * that is sent nobody wants to know what it is like.
 */
#include "packing/find.h"
#include "packing/names.h"

/* Whether the search has anything to try. */
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

/* Take those that an index knows. Whether there are others. */
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

/* The same for any index there is. */
static int ask_index(const struct found *found, struct packing_items *items,
		     struct error *err)
{
	struct pack_bitmap *pb;
	bool others = true;
	int ret;

	/* It has no groups. */
	if (found->grouping != NAME_GROUP_NONE || !found->request->use_bitmap)
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
