/* SPDX-License-Identifier: MIT */
/* Maps the obj_pos of objects to items of a new pack. */
#include <string.h>

#include "base/mem.h"
#include "deltas/item-index.h"

/*
 * If at least one in DENSE_RATIO objects is an item, a table over all obj_pos
 * is made.
 */
#define DENSE_RATIO 64

static int init_dense(struct item_index *index,
		      const struct packing_items *list)
{
	index->dense = mem_alloc(index->end, sizeof(*index->dense));
	if (!index->dense)
		return ERR_NOMEM;
	memset(index->dense, 0xff, (size_t)index->end * sizeof(*index->dense));
	for (size_t i = 0; i < list->nr; i++)
		index->dense[list->items[i].obj_pos] = (uint32_t)i;
	return 0;
}

static int init_sorted(struct item_index *index,
		       const struct packing_items *list)
{
	int ret;

	index->sorted = mem_alloc(list->nr, sizeof(*index->sorted));
	if (!index->sorted)
		return ERR_NOMEM;
	for (size_t i = 0; i < list->nr; i++)
		index->sorted[i] = (struct sort_item){list->items[i].obj_pos,
						      (uint32_t)i};
	ret = sort_items(index->sorted, list->nr);
	if (ret < 0)
		item_index_release(index);
	return ret;
}

int item_index_init(struct item_index *index, const struct packing_items *list)
{
	*index = (struct item_index){
		.nr = list->nr,
		.end = objspace_end(list->space),
	};
	if (list->nr >= index->end / DENSE_RATIO)
		return init_dense(index, list);
	return init_sorted(index, list);
}

void item_index_release(struct item_index *index)
{
	free(index->dense);
	free(index->sorted);
	*index = (struct item_index){0};
}

uint32_t item_index_get(const struct item_index *index, uint32_t obj_pos)
{
	const struct sort_item *found;

	if (!index->sorted)
		return obj_pos < index->end ? index->dense[obj_pos]
					    : PACKING_NO_ITEM;
	found = sort_find(index->sorted, index->nr, obj_pos);
	return found ? found->value : PACKING_NO_ITEM;
}
