/* SPDX-License-Identifier: MIT */
/*
 * Leaves objects out of a response if the receiver gets them from another
 * place.
 */
#include <string.h>

#include "base/mem.h"
#include "packing/find.h"

/*
 * Remove an object from `packed`, the set of objects to send, and return true.
 * If the object is not in `packed`, set its bit in *listed for drop_listed(),
 * and return false.
 */
static bool leave_out(struct found *f, struct bitset *listed, uint32_t obj_pos)
{
	uint32_t bit;

	if (f->packed.bits && found_bit(f, obj_pos, &bit) &&
	    bitset_get(&f->packed, bit)) {
		bitset_unset(&f->packed, bit);
		return true;
	}
	bitset_set(listed, obj_pos);
	return false;
}

/*
 * Remove the objects with a bit in *listed from `objects`, the list of objects
 * to send. Set the bits of these objects in *dropped.
 */
static void drop_listed(struct found *f, struct bitset *listed,
			struct bitset *dropped)
{
	struct walk_items *objects = &f->objects;
	size_t kept = 0;

	for (size_t i = 0; i < objects->nr; i++) {
		uint32_t obj_pos = objects->items[i].obj_pos;

		if (bitset_get(listed, obj_pos))
			bitset_set(dropped, obj_pos);
		else
			objects->items[kept++] = objects->items[i];
	}
	objects->nr = kept;
}

int found_leave_out(struct found *found, const struct oid *oids, size_t nr,
		    bool *left_out, struct error *err)
{
	struct objspace *space = &found->walk.space;
	struct bitset listed = BITSET_INIT, dropped = BITSET_INIT;
	uint32_t obj_pos, end = objspace_end(space);
	int ret = 0;

	if (bitset_init(&listed, end) < 0 || bitset_init(&dropped, end) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < nr; i++)
		left_out[i] = objspace_find(space, oids[i].bytes, &obj_pos) &&
			      leave_out(found, &listed, obj_pos);
	drop_listed(found, &listed, &dropped);
	for (size_t i = 0; i < nr; i++) {
		if (left_out[i] ||
		    !objspace_find(space, oids[i].bytes, &obj_pos) ||
		    !bitset_get(&dropped, obj_pos))
			continue;
		/*
		 * If `oids` has the same id again, only the first element of
		 * left_out becomes true.
		 */
		bitset_unset(&dropped, obj_pos);
		left_out[i] = true;
	}
out:
	bitset_release(&listed);
	bitset_release(&dropped);
	return ret;
}

bool found_is_elsewhere(const struct found *found,
			const struct prepared_content *content)
{
	const struct packing_elsewhere *e = found->request->elsewhere;
	size_t trailer_len = hash_len(found->walk.odb->algo);

	return packing_has_packs(e) &&
	       e->has_pack(e->ctx, &content->checksum,
			   PACK_HEADER_LEN + prepared_bytes(content) +
				   trailer_len);
}
