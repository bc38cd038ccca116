/* SPDX-License-Identifier: MIT */
/* Finding the item of an object. */
#ifndef PACKING_ITEM_INDEX_H
#define PACKING_ITEM_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/sort.h"
#include "packing/items.h"

/*
 * A table over all obj_pos if the list has at least one object in 64, else a
 * sorted array. A small pack from a large repository then costs what the pack
 * holds. Threads may share it.
 */
struct item_index {
	/* owned: by obj_pos < end; or NULL */
	uint32_t *dense;
	/* owned: obj_pos and item; or NULL */
	struct sort_item *sorted;
	size_t nr;
	uint32_t end;
};

/*
 * Index a list of items. The list is not borrowed. Returns 0, or ERR_NOMEM with
 * nothing to release.
 */
int item_index_init(struct item_index *index, const struct packing_items *list);
void item_index_release(struct item_index *index);

/* The item of an object; PACKING_NO_ITEM if there is none. */
uint32_t item_index_get(const struct item_index *index, uint32_t obj_pos);

#endif
