/* SPDX-License-Identifier: MIT */
/* Computes the order in which the items of a new pack are written. */
#include "base/mem.h"
#include "packing/write.h"

struct ordering {
	const struct packing_items *list;
	uint8_t *placed;
	uint32_t *out;
	size_t nr;
};

/*
 * Append an item to the order. If its delta base is not in the order yet,
 * append the base first, and the base's base before, and so on.
 */
static void place(struct ordering *o, uint32_t item)
{
	const struct packing_item *items = o->list->items;
	size_t first = o->nr, last;

	for (uint32_t at = item;
	     at != PACKING_NO_ITEM && !o->placed[at] && !items[at].is_external;
	     at = items[at].base) {
		o->placed[at] = 1;
		o->out[o->nr++] = at;
	}
	/*
	 * The chain was collected from the delta down to its base. Reverse it,
	 * so that the base comes first.
	 */
	for (last = o->nr; last > first + 1; first++) {
		uint32_t swap = o->out[first];

		o->out[first] = o->out[--last];
		o->out[last] = swap;
	}
}

/*
 * The sort key of an item is its class, a number of three parts. The highest
 * bit is set for an item outside of the core island (pack.islandCore). The next
 * two bits are the type, and the lowest RANK_BITS bits are the rank.
 */
#define RANK_BITS 3

/* Number of classes. */
#define CLASS_NR (2 << (2 + RANK_BITS))

/*
 * Returns the rank of an object in the order of a pack. The lowest rank comes
 * first. Ranks 0 and 1 are for the tip island: the objects of clones of depth 1
 * of chosen commits (islands/islands.h). Of these objects, rank 0 is for
 * objects that HEAD does not reach, and rank 1 is for objects that HEAD
 * reaches. The ranks from 2 on are for all other objects, one rank for each
 * layer of the pack. The layer of HEAD has rank 2.
 */
static unsigned rank_of(const struct islands *islands, uint32_t obj_pos)
{
	enum islands_layer layer = islands_layer(islands, obj_pos);

	if (islands_in_tip(islands, obj_pos))
		return layer == ISLANDS_LAYER_HEAD;
	return 2 + (unsigned)layer;
}

static unsigned class_of(const struct packing_items *list,
			 const struct packing_item *item)
{
	static const uint8_t ranks[] = {
		[OBJ_COMMIT] = 0,
		[OBJ_TAG] = 1,
		[OBJ_TREE] = 2,
		[OBJ_BLOB] = 3,
	};
	bool outside = list->islands &&
		       list->islands->core != ISLANDS_NO_CORE &&
		       !islands_in_core(list->islands, item->obj_pos);

	return (unsigned)outside << (2 + RANK_BITS) |
	       (unsigned)ranks[item->type] << RANK_BITS |
	       rank_of(list->islands, item->obj_pos);
}

/*
 * Returns the items in the order of their classes; the sort is stable. NULL: no
 * memory.
 */
static uint32_t *sort_by_class(const struct packing_items *list)
{
	uint32_t *sorted = mem_alloc(list->nr, sizeof(*sorted));
	size_t starts[CLASS_NR + 1] = {0};

	if (!sorted)
		return NULL;
	for (size_t i = 0; i < list->nr; i++)
		starts[class_of(list, &list->items[i]) + 1]++;
	for (size_t c = 1; c <= CLASS_NR; c++)
		starts[c] += starts[c - 1];
	for (size_t i = 0; i < list->nr; i++)
		sorted[starts[class_of(list, &list->items[i])]++] = (uint32_t)i;
	return sorted;
}

uint32_t *write_order(const struct packing_items *list, size_t *nr)
{
	struct ordering o = {.list = list};
	uint32_t *sorted = sort_by_class(list);

	o.placed = mem_calloc(list->nr, 1);
	o.out = mem_alloc(list->nr, sizeof(*o.out));
	if (!sorted || !o.placed || !o.out) {
		free(sorted);
		free(o.placed);
		free(o.out);
		return NULL;
	}
	for (size_t i = 0; i < list->nr; i++)
		place(&o, sorted[i]);
	free(sorted);
	free(o.placed);
	*nr = o.nr;
	return o.out;
}
