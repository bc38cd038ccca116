/* SPDX-License-Identifier: MIT */
/* Finds paths of listed objects, through the commits and trees of the list. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "names/attrs.h"
#include "object/oidmap.h"
#include "object/parse.h"
#include "deltas/names.h"

struct naming {
	struct packing_items *list;
	enum path_grouping grouping;
	/*
	 * the rules for the attribute "delta"; NULL: name hashes are computed
	 */
	const struct attrs *attrs;
	struct odb_reader *reader;
	/*
	 * Maps the ids of the listed objects to items. Most entries of a tree
	 * are not in the list. For such an entry one look-up in this map
	 * suffices, and no pack is searched.
	 */
	struct oidmap item_of;
	uint8_t *seen; /* indexed by item */
	struct buf path;
	/* true: `no_delta` was set in at least one item */
	bool any_unset;
};

static uint32_t find(const struct naming *n, const uint8_t *raw)
{
	uint32_t item;
	struct oid oid;

	oid_from_raw(&oid, raw, n->list->space->odb->algo);
	return oidmap_get(&n->item_of, &oid, &item) ? item : PACKING_NO_ITEM;
}

static int index_items(struct naming *n)
{
	const struct packing_items *list = n->list;
	struct oid oid;
	int ret = 0;

	for (size_t i = 0; i < list->nr && ret >= 0; i++) {
		objspace_oid(&oid, list->space, list->items[i].obj_pos);
		ret = oidmap_put(&n->item_of, &oid, (uint32_t)i);
	}
	return ret < 0 ? ret : 0;
}

static int read_item(struct naming *n, uint32_t item, enum object_type type,
		     struct odb_object *obj)
{
	int ret = objspace_read(n->list->space, n->reader,
				n->list->items[item].obj_pos, obj, NULL);

	/*
	 * Skip an object that cannot be read. The error is reported when the
	 * object is written.
	 */
	if (!ret && obj->type == type)
		return 1;
	if (!ret)
		odb_object_release(n->reader, obj);
	return ret == ERR_NOMEM ? ret : 0;
}

/*
 * Set the hashes of one item, or apply attributes to it. n->path is the item's
 * path.
 */
static void apply_path(struct naming *n, struct packing_item *item)
{
	const struct buf *path = &n->path;

	if (!n->attrs) {
		item->name_hash = name_hash_add(0, path->data, path->len);
		item->path_hash = path_group_path(n->grouping, path->data,
						  path->len);
	} else if (item->type == OBJ_BLOB && !item->is_external &&
		   attrs_of(n->attrs, path->data) == ATTR_UNSET) {
		item->no_delta = n->any_unset = true;
	}
}

static int name_tree(struct naming *n, uint32_t item, unsigned depth);

static int name_entry(struct naming *n, const struct tree_entry *e,
		      unsigned depth)
{
	uint32_t item = find(n, e->oid);
	size_t path_len = n->path.len;
	int ret = 0;

	if (item == PACKING_NO_ITEM || n->seen[item])
		return 0;
	if ((path_len && buf_append_char(&n->path, '/') < 0) ||
	    buf_append(&n->path, e->name, e->name_len) < 0)
		return ERR_NOMEM;
	n->seen[item] = 1;
	apply_path(n, &n->list->items[item]);
	if (tree_entry_is_dir(e))
		ret = name_tree(n, item, depth + 1);
	buf_set_len(&n->path, path_len);
	return ret;
}

static int name_tree(struct naming *n, uint32_t item, unsigned depth)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	struct tree_entry e;
	struct cursor c;
	int ret;

	if (odb_is_too_deep(n->list->space->odb, depth))
		return 0;
	ret = read_item(n, item, OBJ_TREE, &obj);
	if (ret <= 0)
		return ret;
	c = cursor_make(obj.data, obj.len);
	ret = 0;
	while (!ret && tree_next(&e, &c, n->list->space->odb->algo) > 0)
		if (!tree_entry_is_gitlink(&e))
			ret = name_entry(n, &e, depth);
	odb_object_release(n->reader, &obj);
	return ret;
}

static int name_root(struct naming *n, uint32_t item)
{
	if (item == PACKING_NO_ITEM || n->seen[item])
		return 0;
	n->seen[item] = 1;
	return name_tree(n, item, 0);
}

static int name_commit(struct naming *n, uint32_t item)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	struct commit_view view;
	int ret = read_item(n, item, OBJ_COMMIT, &obj);

	if (ret <= 0)
		return ret;
	ret = commit_parse(&view, obj.data, obj.len, n->list->space->odb->algo,
			   NULL);
	odb_object_release(n->reader, &obj);
	return ret < 0 ? 0 : name_root(n, find(n, view.tree.bytes));
}

static int name_all(struct naming *n)
{
	const struct packing_items *list = n->list;
	int ret = 0;

	for (size_t i = 0; i < list->nr && !ret; i++)
		if (list->items[i].type == OBJ_COMMIT)
			ret = name_commit(n, (uint32_t)i);
	for (size_t i = 0; i < list->nr && !ret; i++)
		if (list->items[i].type == OBJ_TREE)
			ret = name_root(n, (uint32_t)i);
	return ret;
}

/*
 * Visit all paths that lead through commits and trees of the list. Without
 * n->attrs, each item that is found gets its name hash and path hash. With
 * n->attrs, the attributes of the path are applied to the item. Returns 0 or
 * ERR_NOMEM.
 */
static int go_over(struct naming *n, struct packing_items *list,
		   struct error *err)
{
	int ret = ERR_NOMEM;

	n->list = list;
	n->seen = mem_calloc(list->nr, 1);
	n->reader = odb_reader_new(list->space->odb, (size_t)64 << 20);
	if (n->seen && n->reader)
		ret = index_items(n);
	if (!ret)
		ret = name_all(n);
	odb_reader_free(n->reader);
	oidmap_release(&n->item_of);
	free(n->seen);
	buf_release(&n->path);
	return ret < 0 ? error_nomem(err) : 0;
}

int names_fill(struct packing_items *list, enum path_grouping grouping,
	       struct error *err)
{
	struct naming n = {
		.grouping = grouping,
		.item_of = OIDMAP_INIT,
		.path = BUF_INIT,
	};

	return go_over(&n, list, err);
}

int names_apply_attrs(struct packing_items *list, struct error *err)
{
	struct naming n = {.item_of = OIDMAP_INIT, .path = BUF_INIT};
	struct attrs *attrs;
	int ret = attr_files_load(&attrs, "delta", list->space->odb, err);

	if (ret < 0)
		return ret;
	n.attrs = attrs;
	if (attrs_any(attrs))
		ret = go_over(&n, list, err);
	attrs_free(attrs);
	return ret < 0 ? ret : n.any_unset;
}
