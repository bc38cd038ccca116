/* SPDX-License-Identifier: MIT */
/*
 * Compares two trees by a merge of their sorted entries. Each path at which the
 * trees differ adds one to the count of its new object, and subtracts one from
 * the count of its old object.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "object/parse.h"
#include "trees/tree-merge.h"
#include "trees/tree-tally.h"

struct tallying {
	struct tree_tally *tally;
	struct objspace *space;
	struct odb_reader *reader;
	/* the caller's limits; `bytes` is reduced by each tree that is read */
	struct tree_tally_limits limits;
	struct error *err;
};

static int compare_trees(struct tallying *t, uint32_t old_tree,
			 uint32_t new_tree, unsigned depth);

/*
 * Adds a row to the tally. Returns 0, 1 if there are too many rows, or
 * ERR_NOMEM.
 */
static int add(struct tallying *t, uint32_t obj_pos, enum object_type type,
	       int32_t paths)
{
	struct tree_tally *tally = t->tally;

	if (obj_pos == TREE_TALLY_NONE)
		return 0;
	if (tally->nr >= t->limits.paths)
		return 1;
	if (mem_grow(&tally->rows, &tally->alloc, tally->nr + 1,
		     sizeof(*tally->rows)) < 0)
		return error_nomem(t->err);
	tally->rows[tally->nr++] = (struct tree_tally_row){
		.obj_pos = obj_pos,
		.paths = paths,
		.type = (uint8_t)type,
	};
	return 0;
}

/*
 * Sets *obj_pos to the object of an entry, or to TREE_TALLY_NONE if there is no
 * entry or it is a submodule. Returns 0 or ERR_NOMEM.
 */
static int look_up(struct tallying *t, uint32_t *obj_pos,
		   const struct tree_entry *entry)
{
	*obj_pos = TREE_TALLY_NONE;
	if (!entry || tree_entry_is_gitlink(entry))
		return 0;
	return objspace_add(t->space, entry->oid, obj_pos) < 0
		       ? error_nomem(t->err)
		       : 0;
}

/*
 * Compares two entries with the same name and type, one of the old tree and one
 * of the new tree. One of them may be NULL: that tree has no such entry. If the
 * entries have different objects, the old object loses one path and the new
 * object gets one path. Adds rows for this to the tally. If the entries are
 * directories, their own entries are compared, too. Returns 0, 1 if a limit is
 * exceeded, or a negative error code.
 */
static int compare_entries(struct tallying *t,
			   const struct tree_entry *old_entry,
			   const struct tree_entry *new_entry, unsigned depth)
{
	uint32_t old_pos, new_pos;
	int ret = look_up(t, &old_pos, old_entry);

	if (!ret)
		ret = look_up(t, &new_pos, new_entry);
	if (ret || old_pos == new_pos)
		return ret;
	if (tree_entry_is_dir(new_entry ? new_entry : old_entry))
		return compare_trees(t, old_pos, new_pos, depth + 1);
	ret = add(t, old_pos, OBJ_BLOB, -1);
	return ret ? ret : add(t, new_pos, OBJ_BLOB, 1);
}

static int merge_entries(struct tallying *t, const struct odb_object *old_obj,
			 const struct odb_object *new_obj, unsigned depth)
{
	struct tree_merge m = tree_merge_make(
		cursor_make(old_obj->data, old_obj->len),
		cursor_make(new_obj->data, new_obj->len), t->space->odb->algo);
	const struct tree_entry *a, *b;
	int more, ret = 0;

	while (!ret && (more = tree_merge_next(&m, &a, &b)))
		ret = more > 0 ? compare_entries(t, a, b, depth)
			       : error_set(t->err, ERR_CORRUPT,
					   "malformed tree");
	return ret;
}

/*
 * Reads a tree. TREE_TALLY_NONE is read as a tree without entries. Returns 0, 1
 * if too many bytes were read, or a negative error code.
 */
static int read_tree(struct tallying *t, uint32_t tree_pos,
		     struct odb_object *tree)
{
	int ret;

	*tree = (struct odb_object)ODB_OBJECT_INIT;
	if (tree_pos == TREE_TALLY_NONE)
		return 0;
	ret = objspace_read_tree(t->space, t->reader, tree_pos, tree, t->err);
	if (ret < 0)
		return ret;
	if (tree->len > t->limits.bytes)
		return 1;
	t->limits.bytes -= tree->len;
	return 0;
}

/*
 * Compares two trees with different ids: adds rows for the trees themselves and
 * for their entries that differ. Returns 0, 1 if a limit is exceeded, or a
 * negative error code.
 */
static int compare_trees(struct tallying *t, uint32_t old_tree,
			 uint32_t new_tree, unsigned depth)
{
	struct odb_object old_obj, new_obj;
	int ret;

	if (odb_is_too_deep(t->space->odb, depth))
		return error_set(t->err, ERR_CORRUPT, "%s", ODB_TOO_DEEP);
	ret = add(t, old_tree, OBJ_TREE, -1);
	if (!ret)
		ret = add(t, new_tree, OBJ_TREE, 1);
	if (ret)
		return ret;
	ret = read_tree(t, old_tree, &old_obj);
	if (!ret) {
		ret = read_tree(t, new_tree, &new_obj);
		if (!ret)
			ret = merge_entries(t, &old_obj, &new_obj, depth);
		odb_object_release(t->reader, &new_obj);
	}
	odb_object_release(t->reader, &old_obj);
	return ret;
}

/*
 * Copies `rows` to *out, and joins all rows of one object into one row by
 * adding their `paths`. `order` sorts the rows by obj_pos. Returns 0, or
 * ERR_CORRUPT if an object is named both as a tree and as a blob.
 */
static int join(struct tree_tally *out, const struct tree_tally *rows,
		const struct sort_item *order, struct error *err)
{
	struct tree_tally_row row;

	for (size_t i = 0; i < rows->nr;) {
		row = rows->rows[order[i].value];
		for (i++; i < rows->nr && order[i].key == row.obj_pos; i++) {
			const struct tree_tally_row *next =
				&rows->rows[order[i].value];

			if (next->type != row.type)
				return error_set(
					err, ERR_CORRUPT,
					"one tree names an object as a tree, "
					"and another as a blob");
			row.paths += next->paths;
		}
		if (row.paths)
			out->rows[out->nr++] = row;
	}
	return 0;
}

static int sort_rows(struct tree_tally *tally, struct error *err)
{
	struct tree_tally sorted = TREE_TALLY_INIT;
	struct sort_item *order = mem_alloc(tally->nr, sizeof(*order));
	int ret = 0;

	for (size_t i = 0; order && i < tally->nr; i++)
		order[i] = (struct sort_item){tally->rows[i].obj_pos,
					      (uint32_t)i};
	if (!order || sort_items(order, tally->nr) < 0 ||
	    mem_grow(&sorted.rows, &sorted.alloc, tally->nr,
		     sizeof(*sorted.rows)) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = join(&sorted, tally, order, err);
	free(order);
	tree_tally_release(tally);
	*tally = sorted;
	return ret;
}

int tree_tally_compare(struct tree_tally *tally, struct objspace *space,
		       struct odb_reader *reader, uint32_t old_tree,
		       uint32_t new_tree,
		       const struct tree_tally_limits *limits,
		       struct error *err)
{
	struct tallying t = {
		.tally = tally,
		.space = space,
		.reader = reader,
		.limits = *limits,
		.err = err,
	};
	int ret;

	/* A row's number of paths is an int32_t, which must not overflow. */
	if (t.limits.paths > INT32_MAX)
		t.limits.paths = INT32_MAX;
	tally->nr = 0;
	if (old_tree == new_tree)
		return 0;
	ret = compare_trees(&t, old_tree, new_tree, 0);
	return ret || !tally->nr ? ret : sort_rows(tally, err);
}

void tree_tally_release(struct tree_tally *tally)
{
	free(tally->rows);
	*tally = (struct tree_tally)TREE_TALLY_INIT;
}
