/* SPDX-License-Identifier: MIT */
/* The order in which items are written. */
#include "base/mem.h"
#include "repack/write.h"

struct ordering {
	const struct repack_items *list;
	uint8_t *placed;
	uint32_t *out;
	size_t nr;
};

/* Place an item, its chain of unplaced bases first. */
static void place(struct ordering *o, uint32_t item)
{
	const struct repack_item *items = o->list->items;
	size_t first = o->nr, last;

	for (uint32_t at = item;
	     at != REPACK_NO_ITEM && !o->placed[at] && !items[at].is_external;
	     at = items[at].base) {
		o->placed[at] = 1;
		o->out[o->nr++] = at;
	}
	/* Collected from the delta down to its base: turn round. */
	for (last = o->nr; last > first + 1; first++) {
		uint32_t swap = o->out[first];

		o->out[first] = o->out[--last];
		o->out[last] = swap;
	}
}

static void place_type(struct ordering *o, enum object_type type, bool tip_only)
{
	const struct repack_items *list = o->list;

	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].type == type &&
		    (!tip_only ||
		     islands_in_tip(list->islands, list->items[i].obj_pos)))
			place(o, (uint32_t)i);
}

uint32_t *write_order(const struct repack_items *list, size_t *nr)
{
	static const enum object_type types[] = {
		OBJ_COMMIT,
		OBJ_TAG,
		OBJ_TREE,
		OBJ_BLOB,
	};
	struct ordering o = {.list = list};

	o.placed = mem_calloc(list->nr, 1);
	o.out = mem_alloc(list->nr, sizeof(*o.out));
	if (!o.placed || !o.out) {
		free(o.placed);
		free(o.out);
		return NULL;
	}
	for (size_t t = 0; t < ARRAY_NR(types); t++) {
		if (list->islands)
			place_type(&o, types[t], true);
		place_type(&o, types[t], false);
	}
	free(o.placed);
	*nr = o.nr;
	return o.out;
}
