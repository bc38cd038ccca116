/* SPDX-License-Identifier: MIT */
/* Objects that a partial clone cannot send, since it has them not. */
#include "check/promisor.h"
#include "packing/find.h"

int found_drop_promised(struct walk_items *objects, struct walk *walk,
			struct error *err)
{
	struct promisor promisor;
	size_t kept = 0;
	int ret = promisor_init(&promisor, walk, err);

	for (size_t i = 0; ret >= 0 && i < objects->nr; i++) {
		const struct walk_item *item = &objects->items[i];

		ret = 1;
		if (item->obj_pos >= walk->space.packed_nr &&
		    item->type == OBJ_BLOB)
			ret = promisor_check(&promisor, item->obj_pos, OBJ_BLOB,
					     err);
		if (ret > 0)
			objects->items[kept++] = *item;
	}
	if (ret >= 0)
		objects->nr = kept;
	promisor_release(&promisor);
	return ret < 0 ? ret : 0;
}
