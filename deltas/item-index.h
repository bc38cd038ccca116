/* SPDX-License-Identifier: MIT */
/*
 * Finds the item of an object: its number in the list of a new pack's objects.
 */
#ifndef DELTAS_ITEM_INDEX_H
#define DELTAS_ITEM_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/sort.h"
#include "deltas/items.h"

/*
 * If at least one in 64 of all objects with an obj_pos is an item, the index is
 * a table over all obj_pos; otherwise it is a sorted array of the items. So the
 * memory for a small pack from a large repository depends on the size of the
 * pack. Threads may share the index.
 */
struct item_index {
	/*
	 * owned: item number, indexed by obj_pos < end; NULL: `sorted` is used
	 */
	uint32_t *dense;
	/* owned: pairs of obj_pos and item, sorted; NULL: `dense` is used */
	struct sort_item *sorted;
	size_t nr;
	uint32_t end;
};

/*
 * Makes an index that finds the item of an object in `list`. The index does not
 * use `list` after this call. Returns 0 or ERR_NOMEM; after an error, *index
 * needs no release.
 */
int item_index_init(struct item_index *index, const struct packing_items *list);
void item_index_release(struct item_index *index);

/* Returns the item of an object, or PACKING_NO_ITEM if it has none. */
uint32_t item_index_get(const struct item_index *index, uint32_t obj_pos);

#endif
