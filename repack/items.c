/* SPDX-License-Identifier: MIT */
/* The list of objects of a new pack. */
#include "base/mem.h"
#include "repack/items.h"

void repack_items_init(struct repack_items *list, struct objspace *space)
{
	*list = (struct repack_items){.space = space};
}

void repack_items_release(struct repack_items *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].delta);
	free(list->items);
	list->items = NULL;
	list->nr = list->alloc = 0;
}

int repack_items_append(struct repack_items *list, uint32_t obj_pos,
			enum object_type type, uint32_t name_hash,
			bool is_external)
{
	if (list->nr >= REPACK_NO_ITEM ||
	    mem_grow(&list->items, &list->alloc, list->nr + 1,
		     sizeof(*list->items)) < 0)
		return ERR_NOMEM;
	list->items[list->nr++] = (struct repack_item){
		.obj_pos = obj_pos,
		.name_hash = name_hash,
		.base = REPACK_NO_ITEM,
		.pack_nr = REPACK_NO_ITEM,
		.type = (uint8_t)type,
		.how = REPACK_WHOLE,
		.is_external = is_external,
	};
	return 0;
}
