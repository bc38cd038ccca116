/* SPDX-License-Identifier: MIT */
/* Appends objects to lists. */
#include "base/error.h"
#include "base/mem.h"
#include "trees/walk-items.h"

int walk_items_add(struct walk_items *list, const struct walk_item *item)
{
	if (mem_grow(&list->items, &list->alloc, list->nr + 1,
		     sizeof(*list->items)) < 0)
		return ERR_NOMEM;
	list->items[list->nr++] = *item;
	return 0;
}

int walk_items_append(struct walk_items *list, uint32_t obj_pos,
		      enum object_type type, uint32_t name_hash)
{
	const struct walk_item item = {
		.obj_pos = obj_pos,
		.name_hash = name_hash,
		.type = (uint8_t)type,
	};

	return walk_items_add(list, &item);
}
