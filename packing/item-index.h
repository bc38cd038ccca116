/* SPDX-License-Identifier: MIT */
/* From objects to the items of a list. */
#ifndef PACKING_ITEM_INDEX_H
#define PACKING_ITEM_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/sort.h"
#include "packing/items.h"

/*
 * A table over all numbers where the list has a good part of them, a sorted
 * array where it has few: a small pack from a large repository costs what is
 * in it. Threads may share it.
 */
struct item_index {
	uint32_t *dense;          /* owned: by obj_pos < end; or NULL */
	struct sort_item *sorted; /* owned: obj_pos and item; or NULL */
	size_t nr;
	uint32_t end;
};

/* 0, or ERR_NOMEM with nothing to release. Does not borrow the list. */
int item_index_init(struct item_index *index, const struct packing_items *list);
void item_index_release(struct item_index *index);

/* The item of an object; PACKING_NO_ITEM when there is none. */
uint32_t item_index_get(const struct item_index *index, uint32_t obj_pos);

#endif
