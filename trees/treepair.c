/* SPDX-License-Identifier: MIT */
/*
 * Finds the pairs of different objects at equal paths of two trees, by a merge
 * of their sorted entries.
 */
#include <string.h>

#include "base/buf.h"
#include "object/parse.h"
#include "trees/tree-merge.h"
#include "trees/treediff.h"
#include "trees/treewalk.h"

struct pairing {
	struct objspace *space;
	struct odb_reader *reader;
	treepair_fn fn;
	void *ctx;
	/* indexed by obj_pos: new trees whose entries were compared */
	struct bitset compared;
	struct buf path;
	struct error *err;
};

static int compare_trees(struct pairing *p, uint32_t new_tree,
			 uint32_t old_tree, unsigned depth);

/*
 * Handles two entries with equal names and types, but different ids. Reports
 * the pair. If the entries are directories, compares their contents too.
 */
static int pair_entries(struct pairing *p, const struct tree_entry *new_entry,
			const struct tree_entry *old_entry, unsigned depth)
{
	size_t path_len = p->path.len;
	uint32_t new_pos, old_pos;
	int ret;

	if (objspace_add(p->space, new_entry->oid, &new_pos) < 0 ||
	    objspace_add(p->space, old_entry->oid, &old_pos) < 0 ||
	    (path_len && buf_append_char(&p->path, '/') < 0) ||
	    buf_append(&p->path, new_entry->name, new_entry->name_len) < 0)
		return error_nomem(p->err);
	if (tree_entry_is_dir(new_entry))
		ret = compare_trees(p, new_pos, old_pos, depth + 1);
	else
		ret = p->fn(p->ctx, new_pos, old_pos, OBJ_BLOB, p->path.data,
			    p->path.len, p->err);
	buf_set_len(&p->path, path_len);
	return ret;
}

static bool are_versions(const struct pairing *p, const struct tree_entry *a,
			 const struct tree_entry *b)
{
	return !tree_entry_is_gitlink(a) && !tree_entry_is_gitlink(b) &&
	       tree_entry_is_dir(a) == tree_entry_is_dir(b) &&
	       memcmp(a->oid, b->oid, hash_len(p->space->odb->algo)) != 0;
}

static int merge_entries(struct pairing *p, const struct odb_object *new_tree,
			 const struct odb_object *old_tree, unsigned depth)
{
	struct tree_merge m = tree_merge_make(
		cursor_make(new_tree->data, new_tree->len),
		cursor_make(old_tree->data, old_tree->len),
		p->space->odb->algo);
	const struct tree_entry *a, *b;
	int ret = 0;

	/* Pairs before a malformed entry are reported. */
	while (!ret && tree_merge_next(&m, &a, &b) > 0)
		if (a && b && are_versions(p, a, b))
			ret = pair_entries(p, a, b, depth);
	return ret;
}

/* Returns 1 if the object was read and is a tree, 0 if not, or ERR_NOMEM. */
static int read_tree(struct pairing *p, uint32_t pos, struct odb_object *tree)
{
	int ret = objspace_read(p->space, p->reader, pos, tree, NULL);

	if (ret == ERR_NOMEM)
		return error_nomem(p->err);
	if (ret < 0)
		return 0;
	if (tree->type == OBJ_TREE)
		return 1;
	odb_object_release(p->reader, tree);
	return 0;
}

/*
 * Adds a new tree to the set of compared trees. Returns 1 if it was added, 0 if
 * the set had it already, or ERR_NOMEM.
 */
static int note_compared(struct pairing *p, uint32_t new_tree)
{
	size_t bits = (size_t)new_tree + new_tree / 2 + 64;

	if (bitset_get(&p->compared, new_tree))
		return 0;
	if (new_tree >= p->compared.bits && bitset_grow(&p->compared, bits) < 0)
		return error_nomem(p->err);
	bitset_set(&p->compared, new_tree);
	return 1;
}

static int compare_trees(struct pairing *p, uint32_t new_tree,
			 uint32_t old_tree, unsigned depth)
{
	struct odb_object new_obj = ODB_OBJECT_INIT, old_obj = ODB_OBJECT_INIT;
	int ret;

	if (new_tree == old_tree || odb_is_too_deep(p->space->odb, depth))
		return 0;
	ret = p->fn(p->ctx, new_tree, old_tree, OBJ_TREE, p->path.data,
		    p->path.len, p->err);
	if (ret)
		return ret;
	ret = note_compared(p, new_tree);
	if (ret > 0)
		ret = read_tree(p, new_tree, &new_obj);
	if (ret <= 0)
		return ret;
	ret = read_tree(p, old_tree, &old_obj);
	if (ret > 0) {
		ret = merge_entries(p, &new_obj, &old_obj, depth);
		odb_object_release(p->reader, &old_obj);
	}
	odb_object_release(p->reader, &new_obj);
	return ret;
}

int treepair_run(struct objspace *space, struct odb_reader *reader,
		 uint32_t new_tree, uint32_t old_tree, treepair_fn fn,
		 void *ctx, struct error *err)
{
	struct pairing p = {
		.space = space,
		.reader = reader,
		.fn = fn,
		.ctx = ctx,
		.compared = BITSET_INIT,
		.path = BUF_INIT,
		.err = err,
	};
	int ret = bitset_init(&p.compared, space->packed_nr) < 0
			  ? error_nomem(err)
			  : compare_trees(&p, new_tree, old_tree, 0);

	bitset_release(&p.compared);
	buf_release(&p.path);
	return ret;
}
