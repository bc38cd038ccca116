/* SPDX-License-Identifier: MIT */
/* Two trees side by side: a merge of their entries, and of directories. */
#include <string.h>

#include "object/parse.h"
#include "walk/tree-beside.h"

struct beside {
	struct walk_items *found;
	struct treewalk *had;
	unsigned added, changed; /* entries of the new tree */
	struct error *err;
};

static int compare_trees(struct beside *b, uint32_t old_tree, uint32_t new_tree,
			 unsigned depth);

static int keep(void *ctx, uint32_t obj_pos, enum object_type type,
		const char *path, size_t path_len, struct error *err)
{
	return 0;
}

/* The old tree has it, with all that is in it. */
static int mark_gone(struct beside *b, const struct tree_entry *entry)
{
	uint32_t pos;

	if (tree_entry_is_gitlink(entry))
		return 0;
	if (objspace_add(b->had->space, entry->oid, &pos) < 0)
		return error_nomem(b->err);
	if (tree_entry_is_dir(entry))
		return treewalk_run(b->had, pos, "", keep, NULL, b->err);
	return treewalk_see(b->had, pos) < 0 ? error_nomem(b->err) : 0;
}

/* Only the new tree has it, or in the place of something else. */
static int take_new(struct beside *b, const struct tree_entry *entry,
		    bool is_added, uint32_t *pos)
{
	bool is_dir = tree_entry_is_dir(entry);

	b->added += is_added;
	b->changed++;
	if ((is_added && is_dir) || b->added > TREE_BESIDE_ADDED_MAX ||
	    b->changed > TREE_BESIDE_CHANGED_MAX)
		return 1;
	if (objspace_add(b->had->space, entry->oid, pos) < 0 ||
	    walk_items_append(b->found, *pos, is_dir ? OBJ_TREE : OBJ_BLOB, 0) <
		    0)
		return error_nomem(b->err);
	return 0;
}

/* Entries of one name. A submodule's commit is not there, whatever its id. */
static int compare_entries(struct beside *b, const struct tree_entry *old_entry,
			   const struct tree_entry *new_entry, unsigned depth)
{
	size_t id_len = hash_len(b->had->space->odb->algo);
	uint32_t old_pos, new_pos;
	int ret;

	if (tree_entry_is_gitlink(new_entry))
		return mark_gone(b, old_entry);
	if (tree_entry_is_gitlink(old_entry))
		return take_new(b, new_entry, true, &new_pos);
	if (!memcmp(old_entry->oid, new_entry->oid, id_len))
		return 0;
	ret = take_new(b, new_entry, false, &new_pos);
	if (ret)
		return ret;
	if (objspace_add(b->had->space, old_entry->oid, &old_pos) < 0)
		return error_nomem(b->err);
	if (tree_entry_is_dir(new_entry))
		return compare_trees(b, old_pos, new_pos, depth + 1);
	return treewalk_see(b->had, old_pos) < 0 ? error_nomem(b->err) : 0;
}

static int merge_entries(struct beside *b, const struct odb_object *old_obj,
			 const struct odb_object *new_obj, unsigned depth)
{
	enum hash_algo algo = b->had->space->odb->algo;
	struct cursor old_c = cursor_make(old_obj->data, old_obj->len);
	struct cursor new_c = cursor_make(new_obj->data, new_obj->len);
	struct tree_entry old_entry, new_entry;
	int old_more = tree_next(&old_entry, &old_c, algo);
	int new_more = tree_next(&new_entry, &new_c, algo);
	uint32_t pos;

	while (old_more > 0 || new_more > 0) {
		int order = old_more <= 0 ? 1
			    : new_more <= 0
				    ? -1
				    : tree_name_cmp(&old_entry, &new_entry);
		int ret = 0;

		if (!order)
			ret = compare_entries(b, &old_entry, &new_entry, depth);
		else if (order < 0)
			ret = mark_gone(b, &old_entry);
		else if (!tree_entry_is_gitlink(&new_entry))
			ret = take_new(b, &new_entry, true, &pos);
		if (ret)
			return ret;
		if (order <= 0)
			old_more = tree_next(&old_entry, &old_c, algo);
		if (order >= 0)
			new_more = tree_next(&new_entry, &new_c, algo);
	}
	/* A malformed one is left to who reads all of it. */
	return old_more || new_more;
}

/* Both are known to differ, and the new one is among what was found. */
static int compare_trees(struct beside *b, uint32_t old_tree, uint32_t new_tree,
			 unsigned depth)
{
	struct treewalk *had = b->had;
	struct odb_object old_obj = ODB_OBJECT_INIT, new_obj = ODB_OBJECT_INIT;
	int ret;

	if (treewalk_see(had, old_tree) < 0)
		return error_nomem(b->err);
	ret = treewalk_read(had, old_tree, depth, &old_obj, b->err);
	if (ret < 0)
		return ret;
	ret = treewalk_read(had, new_tree, depth, &new_obj, NULL);
	if (ret < 0)
		ret = ret == ERR_NOMEM ? error_nomem(b->err) : 1;
	else
		ret = merge_entries(b, &old_obj, &new_obj, depth);
	odb_object_release(had->reader, &new_obj);
	odb_object_release(had->reader, &old_obj);
	return ret;
}

int tree_beside_find(struct walk_items *found, struct treewalk *had,
		     uint32_t old_tree, uint32_t new_tree, struct error *err)
{
	struct beside b = {.found = found, .had = had, .err = err};

	if (old_tree == new_tree)
		return treewalk_see(had, old_tree) < 0 ? error_nomem(err) : 0;
	if (walk_items_append(found, new_tree, OBJ_TREE, 0) < 0)
		return error_nomem(err);
	return compare_trees(&b, old_tree, new_tree, 0);
}
