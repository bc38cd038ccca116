/* SPDX-License-Identifier: MIT */
/* Deltas between pairs of versions. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/delta.h"
#include "pack/inflate.h"
#include "repack/relate.h"

/* What a delta must save at least, besides half: the id of a base. */
#define OVERHEAD 20

struct relating {
	struct repack_items *items;
	struct odb_reader *reader; /* borrowed */
	struct deflater *deflater;
	struct buf stream;
};

/* Let an item be a delta against an object that becomes an external item. */
static int keep(struct relating *r, const struct found_version *version,
		const void *delta, size_t len)
{
	const struct walk_item *old = &version->old;
	struct repack_item *item;

	buf_reset(&r->stream);
	if (deflater_append(r->deflater, &r->stream, delta, len) < 0 ||
	    repack_items_append(r->items, old->obj_pos, old->type,
				old->name_hash, true) < 0)
		return ERR_NOMEM;
	item = &r->items->items[version->object];
	item->delta = mem_alloc(r->stream.len, 1);
	if (!item->delta)
		return ERR_NOMEM;
	memcpy(item->delta, r->stream.data, r->stream.len);
	item->delta_len = (uint32_t)r->stream.len;
	item->delta_size = (uint32_t)len;
	item->how = REPACK_DELTA;
	item->base = (uint32_t)(r->items->nr - 1);
	return 0;
}

static int make(struct relating *r, const struct found_version *version,
		const struct odb_object *obj, const struct odb_object *old)
{
	void *delta = NULL;
	size_t len;
	int ret;

	if (obj->len / 2 <= OVERHEAD || obj->len > UINT32_MAX ||
	    old->len > UINT32_MAX || obj->type != version->old.type ||
	    old->type != version->old.type)
		return 0;
	ret = delta_create_near(old->data, old->len, obj->data, obj->len,
				obj->len / 2 - OVERHEAD, &delta, &len);
	if (!ret)
		ret = keep(r, version, delta, len);
	free(delta);
	return ret < 0 ? ret : 0;
}

/* What cannot be read is left to who has to read it. */
static int relate(struct relating *r, const struct found_version *version)
{
	const struct repack_item *item = &r->items->items[version->object];
	struct objspace *space = r->items->space;
	struct odb_object obj = ODB_OBJECT_INIT, old = ODB_OBJECT_INIT;
	int ret;

	if (item->how != REPACK_COPY && item->how != REPACK_WHOLE)
		return 0;
	ret = objspace_read(space, r->reader, item->obj_pos, &obj, NULL);
	if (!ret)
		ret = objspace_read(space, r->reader, version->old.obj_pos,
				    &old, NULL);
	if (!ret)
		ret = make(r, version, &obj, &old);
	odb_object_release(r->reader, &old);
	odb_object_release(r->reader, &obj);
	return ret == ERR_NOMEM ? ret : 0;
}

int relate_versions(struct repack_items *items, struct found *found,
		    int compression, struct error *err)
{
	struct relating r = {
		.items = items,
		.reader = found->walk.reader,
		.stream = BUF_INIT,
	};
	int ret = 0;

	if (!found->version_nr)
		return 0;
	r.deflater = deflater_new(compression);
	if (!r.deflater)
		ret = ERR_NOMEM;
	for (size_t i = 0; i < found->version_nr && !ret; i++)
		ret = relate(&r, &found->versions[i]);
	deflater_free(r.deflater);
	buf_release(&r.stream);
	return ret < 0 ? error_nomem(err) : 0;
}
