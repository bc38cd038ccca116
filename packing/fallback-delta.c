/* SPDX-License-Identifier: MIT */
/* Makes deltas between pairs of objects that are known to be similar. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/delta.h"
#include "packing/fallback-delta.h"

/*
 * Number of bytes that the id of the base takes in the entry of a delta, in
 * addition to the delta itself.
 */
#define OVERHEAD 20

int fallback_deltas_init(struct fallback_deltas *r, struct packing_items *items,
			 struct odb_reader *reader, int compression)
{
	*r = (struct fallback_deltas){
		.items = items,
		.reader = reader,
		.deflater = deflater_new(compression),
		.stream = BUF_INIT,
	};
	return r->deflater ? 0 : ERR_NOMEM;
}

void fallback_deltas_release(struct fallback_deltas *r)
{
	deflater_free(r->deflater);
	buf_release(&r->stream);
}

/*
 * Append the base of a pair to the items as an external item (an object that is
 * not sent), unless the base is an item already. Returns 0 or ERR_NOMEM.
 */
static int add_base(struct fallback_deltas *r, struct fallback_pair *pair)
{
	const struct walk_item *old = &pair->old;

	if (packing_items_append(r->items, old->obj_pos, old->type,
				 old->name_hash, true) < 0)
		return ERR_NOMEM;
	pair->base = (uint32_t)(r->items->nr - 1);
	return 0;
}

/*
 * Make an item a delta of `size` bytes, deflated to `len` bytes at `stream`.
 * Returns 0 or ERR_NOMEM.
 */
static int set_delta(struct fallback_deltas *r, struct fallback_pair *pair,
		     size_t size, const void *stream, size_t len)
{
	struct packing_item *item;

	if (pair->base == PACKING_NO_ITEM && add_base(r, pair) < 0)
		return ERR_NOMEM;
	item = &r->items->items[pair->item];
	item->delta = mem_alloc(len, 1);
	if (!item->delta)
		return ERR_NOMEM;
	memcpy(item->delta, stream, len);
	item->delta_len = (uint32_t)len;
	item->delta_size = (uint32_t)size;
	item->how = PACKING_DELTA;
	item->base = pair->base;
	r->kept += len;
	return 0;
}

static int keep(struct fallback_deltas *r, struct fallback_pair *pair,
		const void *delta, size_t len)
{
	buf_reset(&r->stream);
	if (deflater_append(r->deflater, &r->stream, delta, len) < 0)
		return ERR_NOMEM;
	return set_delta(r, pair, len, r->stream.data, r->stream.len);
}

static int make(struct fallback_deltas *r, struct fallback_pair *pair,
		uint64_t max_len, const struct odb_object *obj,
		const struct odb_object *old)
{
	void *delta = NULL;
	size_t len;
	int ret;

	if (max_len <= OVERHEAD || obj->len > UINT32_MAX ||
	    old->len > UINT32_MAX || obj->type != pair->old.type ||
	    old->type != pair->old.type)
		return 0;
	ret = delta_create_near(old->data, old->len, obj->data, obj->len,
				max_len - OVERHEAD, &delta, &len);
	if (!ret)
		ret = keep(r, pair, delta, len);
	free(delta);
	return ret < 0 ? ret : 0;
}

int fallback_delta_make(struct fallback_deltas *r, struct fallback_pair *pair,
			uint64_t max_len)
{
	uint32_t obj_pos = r->items->items[pair->item].obj_pos;
	struct objspace *space = r->items->space;
	struct odb_object obj = ODB_OBJECT_INIT, old = ODB_OBJECT_INIT;
	int ret = objspace_read(space, r->reader, obj_pos, &obj, NULL);

	if (!ret)
		ret = objspace_read(space, r->reader, pair->old.obj_pos, &old,
				    NULL);
	if (!ret)
		ret = make(r, pair, max_len, &obj, &old);
	odb_object_release(r->reader, &old);
	odb_object_release(r->reader, &obj);
	/*
	 * If an object cannot be read, ignore the error here. It is reported
	 * when the object is written.
	 */
	return ret == ERR_NOMEM ? ret : 0;
}

/*
 * Returns whether version->old, an older version, can be the base of a delta of
 * the newer version. The receiver must have the older version, or get it with
 * this pack in a run of stored entries that are copied as they are (`sent`).
 *
 * An item is an object that is sent by itself, and not in such a run. If the
 * older version is an item, it cannot be the base. The reason is that an item
 * may become a delta itself: the older version may become a delta of the newer
 * one. Each of the two would then be a delta of the other.
 */
static bool has_base(const struct found_version *version,
		     const struct found *found, const struct bitset *sent,
		     const struct packing_items *items,
		     const struct item_index *item_of)
{
	uint32_t old_pos = version->old.obj_pos, bit;

	if (found_is_item(found, items, item_of, old_pos))
		return false;
	return !version->base_is_sent ||
	       (found_bit(found, old_pos, &bit) && bitset_get(sent, bit));
}

static int make_for_version(struct fallback_deltas *r,
			    const struct found_version *version)
{
	struct fallback_pair pair = {
		.item = (uint32_t)version->object,
		.base = PACKING_NO_ITEM,
		.old = version->old,
	};
	const struct packing_item *item = &r->items->items[version->object];

	if (version->kept.stream)
		return set_delta(r, &pair, version->kept.size,
				 version->kept.stream, version->kept.len);
	if (item->how != PACKING_COPY && item->how != PACKING_WHOLE)
		return 0;
	return fallback_delta_make(r, &pair, item->size / 2);
}

int fallback_delta_versions(struct packing_items *items, struct found *found,
			    const struct bitset *sent, int compression,
			    struct error *err)
{
	struct item_index item_of;
	struct fallback_deltas r;
	int ret;

	if (!found->version_nr)
		return 0;
	if (item_index_init(&item_of, items) < 0)
		return error_nomem(err);
	ret = fallback_deltas_init(&r, items, found->walk.reader, compression);
	for (size_t i = 0; i < found->version_nr && !ret; i++)
		if (has_base(&found->versions[i], found, sent, items, &item_of))
			ret = make_for_version(&r, &found->versions[i]);
	fallback_deltas_release(&r);
	item_index_release(&item_of);
	return ret < 0 ? error_nomem(err) : 0;
}
