/* SPDX-License-Identifier: MIT */
/*
 * Newer versions of what the receiver has. Packs store the newest version of
 * a file whole, and older ones as deltas against it: copied as it is stored, a
 * fetch of one commit would get its files whole. So these are taken out of what
 * is copied, with the older version beside them for the search.
 */
#include "base/mem.h"
#include "object/parse.h"
#include "pack/entry.h"
#include "repack/find.h"
#include "walk/treepair.h"

/* Work that one request may cause: objects, and their bytes in all. */
#define VERSIONS_MAX 1024
#define VERSION_BYTES_MAX (UINT64_C(16) << 20)

struct versions {
	struct found *f;
	size_t nr;
	uint64_t bytes;
};

/* Whether the entry of a pack is no delta; *size is then the object's. */
static bool is_stored_whole(const struct found *f, uint32_t bit, uint64_t *size)
{
	struct pack_entry entry;
	uint64_t off;
	const struct odb_pack *p = bitmap_space_locate(&f->space, bit, &off);

	if (pack_entry_at(&entry, p->pack, off, NULL) < 0 ||
	    entry.type == OBJ_OFS_DELTA || entry.type == OBJ_REF_DELTA)
		return false;
	*size = entry.size;
	return true;
}

static int note_version(void *ctx, uint32_t new_pos, uint32_t old_pos,
			enum object_type type, const char *path,
			size_t path_len, struct error *err)
{
	struct versions *v = ctx;
	struct found *f = v->f;
	struct walk_item item = {
		.obj_pos = new_pos,
		.name_hash = name_hash_add(0, path, path_len),
		.group = name_group_path(f->grouping, path, path_len),
		.type = (uint8_t)type,
	};
	uint32_t bit;
	uint64_t size;

	if (v->nr >= VERSIONS_MAX || v->bytes >= VERSION_BYTES_MAX)
		return 1;
	if (!found_bit(f, new_pos, &bit) || !bitset_get(&f->packed, bit) ||
	    !is_stored_whole(f, bit, &size) ||
	    size > VERSION_BYTES_MAX - v->bytes ||
	    old_pos >= f->walk.space.packed_nr || !found_had(f, old_pos))
		return 0;
	if (walk_items_add(&f->objects, &item) < 0)
		return error_nomem(err);
	item.obj_pos = old_pos;
	if (walk_items_add(&f->versions, &item) < 0)
		return error_nomem(err);
	bitset_unset(&f->packed, bit);
	v->nr++;
	v->bytes += size;
	return 0;
}

int found_withhold_versions(struct found *found, struct error *err)
{
	struct versions v = {.f = found};
	struct history *h = &found->walk.history;
	uint32_t wants[FOUND_NEWEST_MAX], haves[FOUND_NEWEST_MAX];
	size_t want_nr = found_newest(wants, h, found->wants, found->want_nr);
	size_t have_nr = found_newest(haves, h, found->boundary,
				      found->boundary_nr);
	int ret = 0;

	if (bitset_is_empty(&found->packed))
		return 0;
	for (size_t i = 0; i < want_nr && !ret; i++)
		for (size_t k = 0; k < have_nr && !ret; k++)
			ret = treepair_run(&found->walk.space,
					   found->walk.reader,
					   h->commits[wants[i]].tree_pos,
					   h->commits[haves[k]].tree_pos,
					   note_version, &v, err);
	return ret < 0 ? ret : 0;
}
