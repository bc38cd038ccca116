/* SPDX-License-Identifier: MIT */
/*
 * Compares two trees by the number of paths of each object. An object may be at
 * several paths of a tree: equal files, or equal directories with everything
 * below them. The *tally* of an old and a new tree lists the objects whose
 * number of paths differs, with the difference: paths in the new tree minus
 * paths in the old tree. To find out whether the new tree still has an object
 * of the old tree, add this difference to the number of the object's paths in
 * the old tree. If the sum is 0, the new tree no longer has the object.
 *
 * Only directories that differ are read.
 */
#ifndef TREES_TREE_TALLY_H
#define TREES_TREE_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "odb/odb.h"
#include "trees/objspace.h"

/* An object, and how many more paths it has in the new tree. */
struct tree_tally_row {
	uint32_t obj_pos;
	/*
	 * number of paths in the new tree minus number of paths in the old tree
	 */
	int32_t paths;
	uint8_t type; /* OBJ_TREE or OBJ_BLOB */
};

struct tree_tally {
	struct tree_tally_row *rows; /* owned */
	size_t nr, alloc;
};

#define TREE_TALLY_INIT                                                        \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/* How much two trees may differ. */
struct tree_tally_limits {
	/*
	 * maximum number of paths at which the trees differ; a path at which
	 * both trees have an object counts twice
	 */
	size_t paths;
	/*
	 * bytes of the trees that are read; a tree counts at each path at which
	 * it is read
	 */
	size_t bytes;
};

/* Used in place of a tree's obj_pos: there is no tree, and so no entry. */
#define TREE_TALLY_NONE UINT32_MAX

/*
 * Compares two trees, given by obj_pos. Sets *tally, which must be initialised,
 * to the objects that have more paths in one tree than in the other. Each
 * object has one row; the rows ascend by obj_pos. `old_tree` may be
 * TREE_TALLY_NONE; the tally then has all objects of the new tree. The trees
 * themselves count as objects at the empty path. Commits of submodules are left
 * out.
 *
 * Returns 0, or 1 if the trees differ more than the limits allow. Returns
 * ERR_MISSING if a tree is missing, ERR_CORRUPT if a tree is malformed or an
 * object is named both as a tree and as a blob, or another negative error code.
 * The caller releases *tally in all cases. Cost: the differing directories of
 * both trees are read.
 */
int tree_tally_compare(struct tree_tally *tally, struct objspace *space,
		       struct odb_reader *reader, uint32_t old_tree,
		       uint32_t new_tree,
		       const struct tree_tally_limits *limits,
		       struct error *err);
void tree_tally_release(struct tree_tally *tally);

#endif
