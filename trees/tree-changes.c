/* SPDX-License-Identifier: MIT */
/* Compares two trees by a merge of their sorted entries. */
#include <string.h>

#include "object/parse.h"
#include "trees/tree-merge.h"
#include "trees/treediff.h"

struct changes {
	struct walk_items *found;
	struct treewalk *old;
	/*
	 * added: number of reported entries whose name the old tree does not
	 * have; changed: number of all reported entries. TREE_CHANGES_*_MAX are
	 * the limits of these two numbers.
	 */
	unsigned added, changed;
	struct error *err;
};

static int compare_trees(struct changes *c, uint32_t old_tree,
			 uint32_t new_tree, unsigned depth);

static int keep(void *ctx, uint32_t obj_pos, enum object_type type,
		const char *path, size_t path_len, struct error *err)
{
	return 0;
}

/*
 * Handles an entry of the old tree whose name the new tree does not have. Puts
 * the object of the entry, and all objects below it, into the set c->old->seen.
 */
static int mark_gone(struct changes *c, const struct tree_entry *entry)
{
	uint32_t pos;

	if (tree_entry_is_gitlink(entry))
		return 0;
	if (objspace_add(c->old->space, entry->oid, &pos) < 0)
		return error_nomem(c->err);
	if (tree_entry_is_dir(entry))
		return treewalk_run(c->old, pos, "", keep, NULL, c->err);
	return treewalk_see(c->old, pos) < 0 ? error_nomem(c->err) : 0;
}

/*
 * Adds the object of an entry of the new tree to the list of found objects.
 * `is_added` true: the old tree has no tree or blob of this name and type.
 * False: the old tree has such an entry, with another id. Returns 0, 1 if a
 * limit is exceeded or a directory was added, or ERR_NOMEM.
 */
static int take_new(struct changes *c, const struct tree_entry *entry,
		    bool is_added, uint32_t *pos)
{
	bool is_dir = tree_entry_is_dir(entry);

	c->added += is_added;
	c->changed++;
	if ((is_added && is_dir) || c->added > TREE_CHANGES_ADDED_MAX ||
	    c->changed > TREE_CHANGES_CHANGED_MAX)
		return 1;
	if (objspace_add(c->old->space, entry->oid, pos) < 0 ||
	    walk_items_append(c->found, *pos, is_dir ? OBJ_TREE : OBJ_BLOB, 0) <
		    0)
		return error_nomem(c->err);
	return 0;
}

/*
 * Compares two entries of the same name. A submodule and a file may have equal
 * ids, but they are not the same object: the commit of a submodule is in
 * another repository.
 */
static int compare_entries(struct changes *c,
			   const struct tree_entry *old_entry,
			   const struct tree_entry *new_entry, unsigned depth)
{
	size_t id_len = hash_len(c->old->space->odb->algo);
	uint32_t old_pos, new_pos;
	int ret;

	if (tree_entry_is_gitlink(new_entry))
		return mark_gone(c, old_entry);
	if (tree_entry_is_gitlink(old_entry))
		return take_new(c, new_entry, true, &new_pos);
	if (!memcmp(old_entry->oid, new_entry->oid, id_len))
		return 0;
	ret = take_new(c, new_entry, false, &new_pos);
	if (ret)
		return ret;
	if (objspace_add(c->old->space, old_entry->oid, &old_pos) < 0)
		return error_nomem(c->err);
	if (tree_entry_is_dir(new_entry))
		return compare_trees(c, old_pos, new_pos, depth + 1);
	return treewalk_see(c->old, old_pos) < 0 ? error_nomem(c->err) : 0;
}

static int merge_entries(struct changes *c, const struct odb_object *old_obj,
			 const struct odb_object *new_obj, unsigned depth)
{
	struct tree_merge m = tree_merge_make(
		cursor_make(old_obj->data, old_obj->len),
		cursor_make(new_obj->data, new_obj->len),
		c->old->space->odb->algo);
	const struct tree_entry *old_entry, *new_entry;
	uint32_t pos;
	int more, ret = 0;

	while (!ret && (more = tree_merge_next(&m, &old_entry, &new_entry))) {
		/*
		 * If a tree is malformed, give up: the full walk that follows
		 * reports the error.
		 */
		if (more < 0)
			return 1;
		if (old_entry && new_entry)
			ret = compare_entries(c, old_entry, new_entry, depth);
		else if (old_entry)
			ret = mark_gone(c, old_entry);
		else if (!tree_entry_is_gitlink(new_entry))
			ret = take_new(c, new_entry, true, &pos);
	}
	return ret;
}

/*
 * Compares two trees with different ids. The caller has put the new tree into
 * the list `found`.
 */
static int compare_trees(struct changes *c, uint32_t old_tree,
			 uint32_t new_tree, unsigned depth)
{
	struct treewalk *old = c->old;
	struct odb_object old_obj = ODB_OBJECT_INIT, new_obj = ODB_OBJECT_INIT;
	int ret;

	if (treewalk_see(old, old_tree) < 0)
		return error_nomem(c->err);
	ret = treewalk_read(old, old_tree, depth, &old_obj, c->err);
	if (ret < 0)
		return ret;
	ret = treewalk_read(old, new_tree, depth, &new_obj, NULL);
	if (ret < 0)
		ret = ret == ERR_NOMEM ? error_nomem(c->err) : 1;
	else
		ret = merge_entries(c, &old_obj, &new_obj, depth);
	odb_object_release(old->reader, &new_obj);
	odb_object_release(old->reader, &old_obj);
	return ret;
}

int tree_changes_find(struct walk_items *found, struct treewalk *old,
		      uint32_t old_tree, uint32_t new_tree, struct error *err)
{
	struct changes c = {.found = found, .old = old, .err = err};

	if (old_tree == new_tree)
		return treewalk_see(old, old_tree) < 0 ? error_nomem(err) : 0;
	if (walk_items_append(found, new_tree, OBJ_TREE, 0) < 0)
		return error_nomem(err);
	return compare_trees(&c, old_tree, new_tree, 0);
}
