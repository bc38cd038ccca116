/* SPDX-License-Identifier: MIT */
/*
 * Finds delta bases for objects to send: similar objects that the receiver has,
 * or gets with this pack.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "packing/find-parts.h"
#include "trees/treewalk.h"

/*
 * Returns a key computed from type and name hash. Objects with the same key are
 * likely to be similar.
 */
static uint64_t kind_of(uint8_t type, uint32_t name_hash)
{
	return (uint64_t)type << 32 | name_hash;
}

/*
 * Minimum of the total bytes of the items that need a delta base. If they have
 * fewer bytes, the trees of boundary commits (commits that the receiver has)
 * are not read: reading these trees costs more than it saves.
 */
#define KINDS_MIN_BYTES 65536

/*
 * Returns whether a delta base should be found for an item: the item will be
 * deflated anew or, with `stored_too`, is stored whole and would be copied.
 */
static bool wants_base(const struct packing_item *item, bool stored_too)
{
	return !item->is_external && !item->settled &&
	       (item->how == PACKING_WHOLE ||
		(stored_too && item->how == PACKING_COPY));
}

/*
 * Mark the items for which an older version was found as delta base
 * (f->versions). Returns 0 or ERR_NOMEM.
 */
static int mark_versions(struct bitset *marked, const struct found *f,
			 size_t item_nr)
{
	if (bitset_init(marked, item_nr) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < f->version_nr; i++)
		bitset_set(marked, f->versions[i].object);
	return 0;
}

/*
 * List the keys (kind_of()) of items that will be deflated anew. With
 * `stored_too`, also list the keys of items that are stored whole. Only the
 * keys of the sort_items are set. If finding bases would cost more than it
 * saves, the list is empty.
 */
static int list_kinds(struct sort_item **kinds, size_t *nr,
		      const struct found *f, const struct packing_items *items,
		      bool stored_too)
{
	struct bitset has_version = BITSET_INIT;
	uint64_t bytes = 0;
	int ret;

	*nr = 0;
	*kinds = mem_alloc(items->nr, sizeof(**kinds));
	if (!*kinds || mark_versions(&has_version, f, items->nr) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < items->nr; i++) {
		const struct packing_item *item = &items->items[i];

		if (!wants_base(item, stored_too) ||
		    bitset_get(&has_version, i))
			continue;
		bytes += item->size;
		(*kinds)[(*nr)++].key = kind_of(item->type, item->name_hash);
	}
	if (bytes < KINDS_MIN_BYTES && !f->has_boundary)
		*nr = 0;
	ret = sort_items(*kinds, *nr);
	bitset_release(&has_version);
	return ret;
}

/*
 * Returns whether an object is missing in this repository, and would have to be
 * fetched from another one (odb->provider). Such an object is not used as a
 * delta base: fetching it costs more than a delta saves.
 */
static bool needs_provider(struct found *f, uint32_t obj_pos)
{
	struct walk *w = &f->walk;
	struct oid oid;

	if (!w->odb->provider || obj_pos < w->space.packed_nr)
		return false;
	objspace_oid(&oid, &w->space, obj_pos);
	return !odb_reader_has(w->reader, &oid);
}

/*
 * Append an object to the items as an external delta base. Its size is looked
 * up, because the delta search needs the size. A missing object is skipped.
 */
static int add_base(struct found *f, struct packing_items *items,
		    const struct walk_item *object, struct error *err)
{
	uint64_t size;
	int ret;

	if (needs_provider(f, object->obj_pos))
		return 0;
	ret = objspace_info(&f->walk.space, f->walk.reader, object->obj_pos,
			    NULL, &size, err);
	if (ret == ERR_MISSING)
		return 0;
	if (!ret && packing_items_append(items, object->obj_pos, object->type,
					 object->name_hash, true) < 0)
		ret = error_nomem(err);
	if (!ret) {
		items->items[items->nr - 1].size = size;
		items->items[items->nr - 1].path_hash = object->group;
	}
	return ret;
}

/* The arguments of found_add_sent(), and the keys of the items. */
struct adding {
	struct found *found;
	struct packing_items *items;
	struct sort_item *kinds; /* owned */
	size_t nr;
	bool (*is_sent)(void *ctx, uint32_t odb_pos);
	void *ctx;
};

/*
 * Visits an object of a wanted tree. Appends the object to a->items as an
 * external delta base (an item that only serves as a base, and is not written
 * from the list) if two conditions are met:
 * - The new pack gets the object in another way: in a range of bytes that is
 *   copied from an old pack (a->is_sent).
 * - An item that will be deflated anew has the same key, computed from type and
 *   name hash (kind_of()). So the two are probably similar, and the item may
 *   become a delta of the object.
 */
static int add_sent(void *ctx, uint32_t obj_pos, enum object_type type,
		    const char *path, size_t path_len, struct error *err)
{
	struct adding *a = ctx;
	const struct walk_item item = {
		.obj_pos = obj_pos,
		.name_hash = name_hash_add(0, path, path_len),
		.group = path_group_path(a->found->grouping, path, path_len),
		.type = (uint8_t)type,
	};
	uint64_t kind = kind_of(item.type, item.name_hash);

	if (obj_pos >= a->found->walk.space.packed_nr ||
	    !sort_find(a->kinds, a->nr, kind) || !a->is_sent(a->ctx, obj_pos))
		return 0;
	return add_base(a->found, a->items, &item, err);
}

static int add_all_sent(struct adding *a, struct error *err)
{
	struct found *f = a->found;
	struct history *h = &f->walk.history;
	uint32_t newest[FOUND_NEWEST_MAX];
	struct treewalk tree;
	size_t nr;
	int ret = found_newest(newest, &nr, FOUND_NEWEST_MAX, h, f->wants,
			       f->want_nr, err);

	if (ret < 0)
		return ret;
	ret = treewalk_init(&tree, &f->walk.space, f->walk.reader);
	if (ret < 0)
		ret = error_nomem(err);
	for (size_t i = 0; i < nr && !ret; i++)
		ret = treewalk_run(&tree, h->commits[newest[i]].tree_pos, "",
				   add_sent, a, err);
	treewalk_release(&tree);
	return ret;
}

int found_add_sent(struct found *found, struct packing_items *items,
		   bool (*is_sent)(void *ctx, uint32_t odb_pos), void *ctx,
		   struct error *err)
{
	struct adding a = {
		.found = found,
		.items = items,
		.is_sent = is_sent,
		.ctx = ctx,
	};
	int ret = 0;

	if (found->commits_walked < 2)
		return 0;
	if (list_kinds(&a.kinds, &a.nr, found, items, false) < 0)
		ret = error_nomem(err);
	if (!ret && a.nr)
		ret = add_all_sent(&a, err);
	free(a.kinds);
	return ret;
}

/*
 * Append external delta bases to the items: objects that only serve as bases,
 * and are not written from the list. The receiver has such an object already,
 * or the new pack gets it in a range of bytes that is copied from an old pack.
 * Two sorts of objects are appended:
 * - Older versions (found->versions). An older version is not appended if its
 *   newer version has already become a delta (PACKING_DELTA).
 * - Boundary objects: objects in the trees of boundary commits, which the
 *   receiver has. A boundary object is appended only if it is probably similar
 *   to an item that needs a base. `kinds` has the keys of these items: a key is
 *   computed from type and name hash (kind_of()). The key of the boundary
 *   object must be one of them.
 *
 * An object that is itself an item to write is not appended. `item_of`: an
 * index of the items that existed before the call.
 */
static int add_bases(struct found *found, struct packing_items *items,
		     const struct item_index *item_of,
		     const struct sort_item *kinds, size_t nr,
		     struct error *err)
{
	const struct walk_items *objects = &found->boundary_objects;
	int ret = 0;

	for (size_t i = 0; i < found->version_nr && !ret; i++) {
		const struct found_version *v = &found->versions[i];

		if (items->items[v->object].how != PACKING_DELTA &&
		    !found_is_item(found, items, item_of, v->old.obj_pos))
			ret = add_base(found, items, &v->old, err);
	}
	for (size_t i = 0; nr && i < objects->nr && !ret; i++) {
		const struct walk_item *object = &objects->items[i];

		if (sort_find(kinds, nr,
			      kind_of(object->type, object->name_hash)) &&
		    !found_is_item(found, items, item_of, object->obj_pos))
			ret = add_base(found, items, object, err);
	}
	return ret;
}

int found_add_bases(struct found *found, struct packing_items *items,
		    struct error *err)
{
	struct item_index item_of = {.nr = 0};
	struct sort_item *kinds = NULL;
	size_t nr;
	int ret;

	if (!found->boundary_nr)
		return 0;
	ret = list_kinds(&kinds, &nr, found, items, true) < 0 ||
			      item_index_init(&item_of, items) < 0
		      ? error_nomem(err)
		      : 0;
	if (!ret && nr)
		ret = find_boundary_collect(found, err);
	if (!ret)
		ret = add_bases(found, items, &item_of, kinds, nr, err);
	item_index_release(&item_of);
	free(kinds);
	return ret;
}
