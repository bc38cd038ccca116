/* SPDX-License-Identifier: MIT */
/* Lists the objects of a new pack, and checks their ids. */
#include "base/mem.h"
#include "deltas/items.h"

void packing_items_init(struct packing_items *list, struct objspace *space)
{
	*list = (struct packing_items){.space = space};
}

void packing_items_release(struct packing_items *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].delta);
	free(list->items);
	list->items = NULL;
	list->nr = list->alloc = 0;
}

int packing_items_reserve(struct packing_items *list, size_t nr)
{
	struct packing_item *items;
	size_t alloc, len;

	if (!mem_add(&alloc, list->nr, nr) ||
	    !mem_mul(&len, alloc, sizeof(*items)))
		return ERR_NOMEM;
	if (alloc <= list->alloc)
		return 0;
	items = realloc(list->items, len);
	if (!items)
		return ERR_NOMEM;
	list->items = items;
	list->alloc = alloc;
	return 0;
}

int packing_items_append(struct packing_items *list, uint32_t obj_pos,
			 enum object_type type, uint32_t name_hash,
			 bool is_external)
{
	if (list->nr >= PACKING_NO_ITEM ||
	    mem_grow(&list->items, &list->alloc, list->nr + 1,
		     sizeof(*list->items)) < 0)
		return ERR_NOMEM;
	list->items[list->nr++] = (struct packing_item){
		.obj_pos = obj_pos,
		.name_hash = name_hash,
		.base = PACKING_NO_ITEM,
		.pack_nr = PACKING_NO_ITEM,
		.type = (uint8_t)type,
		.how = PACKING_WHOLE,
		.is_external = is_external,
	};
	return 0;
}

int packing_items_add(struct packing_items *list, const struct walk_item *found)
{
	int ret = packing_items_append(list, found->obj_pos, found->type,
				       found->name_hash, false);

	if (!ret)
		list->items[list->nr - 1].path_hash = found->group;
	return ret;
}

int packing_items_check(const struct packing_items *list,
			const struct packing_item *item,
			const struct odb_object *obj, struct error *err)
{
	enum hash_algo algo = list->space->odb->algo;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid wanted;

	objspace_oid(&wanted, list->space, item->obj_pos);
	if (obj->type != item->type)
		return error_set(err, ERR_CORRUPT, "object %s is corrupt",
				 oid_to_hex(hex, &wanted, algo));
	return odb_object_check_id(obj, &wanted, algo, err);
}
