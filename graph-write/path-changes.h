/* SPDX-License-Identifier: MIT */
/*
 * Compares two trees by path, and reports all files that differ or that only
 * one tree has. Decoded trees are kept in a cache (trees/tree-store.h), so that
 * comparing many pairs of similar trees is fast.
 *
 * trees/treepair.c also compares two trees, but reports only files that both
 * trees have.
 */
#ifndef GRAPH_WRITE_PATH_CHANGES_H
#define GRAPH_WRITE_PATH_CHANGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "names/pathspec.h"
#include "trees/objspace.h"

#define PATH_CHANGES_NO_TREE UINT32_MAX

/* How a path differs between the two trees. */
enum path_change {
	PATH_ADDED = 1,
	PATH_REMOVED = 2,
	PATH_MODIFIED = PATH_ADDED | PATH_REMOVED,
};

/*
 * Receives the path of a file, symlink or submodule, from the root, without a
 * slash at either end; valid during the call. If a file was replaced by a
 * directory (or the reverse), both the file and the files in the directory are
 * reported. If the function returns a nonzero value, the comparison stops and
 * returns that value.
 */
typedef int (*path_change_fn)(void *ctx, const char *path, size_t path_len,
			      enum path_change change);

/* The state of one thread that compares trees. */
struct path_changes;

/*
 * Makes the state of a comparison. `cache_limit` is passed to tree_store_new().
 * Returns NULL if memory runs out.
 */
struct path_changes *path_changes_new(struct objspace *space,
				      size_t cache_limit);
void path_changes_free(struct path_changes *p);

/*
 * From now on, only paths that the pathspec `limits` (borrowed) chooses are
 * compared. Directories without chosen paths are not read.
 */
void path_changes_limit(struct path_changes *p, const struct pathspec *limits);

/*
 * Compares two trees by obj_pos. PATH_CHANGES_NO_TREE means a tree without
 * entries. Returns 0, a nonzero result of `fn`, or a negative error code:
 * ERR_MISSING or ERR_CORRUPT if a tree cannot be read. Equal directories are
 * not read.
 */
int path_changes_run(struct path_changes *p, uint32_t new_tree,
		     uint32_t old_tree, path_change_fn fn, void *ctx,
		     struct error *err);

#endif
