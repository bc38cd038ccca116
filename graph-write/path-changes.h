/* SPDX-License-Identifier: MIT */
/*
 * Two trees, path by path: files that one has and the other has not, or has
 * differently. What treepair.h does for versions of one file, for all changes,
 * and over decoded trees (tree-store.h), for many pairs.
 */
#ifndef GRAPH_WRITE_PATH_CHANGES_H
#define GRAPH_WRITE_PATH_CHANGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "names/pathspec.h"
#include "walk/objspace.h"

#define PATH_CHANGES_NO_TREE UINT32_MAX

/* What happened to a path. */
enum path_change {
	PATH_ADDED = 1,
	PATH_REMOVED = 2,
	PATH_MODIFIED = PATH_ADDED | PATH_REMOVED,
};

/*
 * Receives the path of a file, symlink or submodule, from the roots, without a
 * slash at either end; valid during the call. One that became a directory, or
 * was one, is named as the file it was or is, and so is what is below it. A
 * nonzero return ends the comparison and is returned.
 */
typedef int (*path_change_fn)(void *ctx, const char *path, size_t path_len,
			      enum path_change change);

/* Working memory of one thread. */
struct path_changes;

/* `cache_limit` as for tree_store_new(). NULL when out of memory. */
struct path_changes *path_changes_new(struct objspace *space,
				      size_t cache_limit);
void path_changes_free(struct path_changes *p);

/*
 * From now on tell only of paths that `limits` (borrowed) takes, and read only
 * directories where there may be some.
 */
void path_changes_limit(struct path_changes *p, const struct pathspec *limits);

/*
 * Compare two trees (obj_pos, or PATH_CHANGES_NO_TREE for one without
 * entries). 0, what `fn` returned, or a negative error: ERR_MISSING or
 * ERR_CORRUPT for a tree that cannot be read. Directories that are equal are
 * not read.
 */
int path_changes_run(struct path_changes *p, uint32_t new_tree,
		     uint32_t old_tree, path_change_fn fn, void *ctx,
		     struct error *err);

#endif
