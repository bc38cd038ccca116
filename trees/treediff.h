/* SPDX-License-Identifier: MIT */
/*
 * Tree diffs. Each module has a different use:
 *
 *   treediff.c      entries of a commit's tree that no parent's tree has
 *   treepair.c      pairs of versions of files, for deltas
 *   tree-changes.c  new objects of a tree that is similar to another tree
 *
 * tree-tally.h counts at how many paths two trees have an object.
 * graph-write/path-changes.h finds the changed paths of many pairs of trees.
 */
#ifndef TREES_TREEDIFF_H
#define TREES_TREEDIFF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "object/path-group.h"
#include "odb/odb.h"
#include "trees/objspace.h"
#include "trees/treewalk.h"
#include "trees/walk-items.h"

/* ---- new objects of a commit (treediff.c) */

/*
 * A tree diff of one commit's tree and its parents' trees. Finds the entries
 * that no parent has at the same path. walk/newobj.c uses these functions for
 * each commit.
 */

/*
 * Maximum number of parents whose trees are compared with the tree of a commit.
 * Further parents could only remove objects from the result, so ignoring them
 * loses no object.
 */
#define TREEDIFF_MAX_PARENTS 8

/*
 * A tree or blob that a commit has, and no parent has at the same path. A tree
 * that is at several such paths is listed once, with the first of them. The
 * entries of this tree are compared with those of the parents' trees at the
 * first path only. So the cost grows with the number of different trees, and
 * not with the number of paths.
 */
struct treediff_object {
	uint32_t obj_pos;
	/* path hash of the object, version 1 (name_hash_add) */
	uint32_t name_hash;
	/*
	 * path group of the object (object/path-group.h), in the version that
	 * options->grouping says
	 */
	uint32_t group;
};

struct treediff_options {
	/*
	 * Set of objects (obj_pos) that are left out of the results. The set
	 * must be closed under reachability: with each object, it has all
	 * objects that this object reaches. Borrowed until
	 * treediff_free(); NULL: none.
	 */
	const struct bitset *known;
	/* list no blobs */
	bool trees_only;
	/* how the path groups (treediff_object.group) are computed */
	enum path_grouping grouping;
	/*
	 * limit in bytes of the cache of decoded trees; the pool of tree
	 * entries has the same limit
	 */
	size_t cache_limit;
};

/*
 * Records which commit has listed a tree, so that the lists of later commits
 * leave out this tree. Used if the caller needs only the union of the lists.
 * All threads share this struct. listed_by[obj_pos] of a packed tree is 0 if no
 * commit has listed the tree. Otherwise the value is the commit's `order` (see
 * treediff_run()) plus one.
 */
struct treediff_shared {
	_Atomic uint32_t *listed_by; /* owned; NULL: unused */
	size_t nr;
};

int treediff_shared_init(struct treediff_shared *shared, size_t nr);
void treediff_shared_release(struct treediff_shared *shared);

/* The working memory of one thread that compares trees. */
struct treediff;

/*
 * Makes the working memory of tree diffs. Each tree diff makes a list of the
 * new trees and blobs of one commit. `shared` records which trees were listed.
 * With `shared`, the list of a commit leaves out trees that the list of an
 * earlier commit has. NULL: such trees are not left out. *options is borrowed
 * for the call. Returns NULL if memory runs out.
 */
struct treediff *treediff_new(struct objspace *space,
			      struct treediff_shared *shared,
			      const struct treediff_options *options);
void treediff_free(struct treediff *d);

/*
 * The objects that treediff_run() has found, valid until the function is called
 * again. Trees come in depth-first order, a tree before its subtrees.
 */
struct treediff_result {
	const struct treediff_object *trees, *blobs;
	size_t tree_nr, blob_nr;
};

/*
 * Compares the tree `tree_pos` of a commit with the trees of its parents;
 * parent_nr <= TREEDIFF_MAX_PARENTS. `order` is the commit's index in an array
 * in which parents come before their children. A parent's tree that cannot be
 * read is ignored. Returns 0, ERR_MISSING if a tree of the commit is missing,
 * ERR_CORRUPT if one is malformed, or another negative error code.
 */
int treediff_run(struct treediff *d, uint32_t tree_pos, const uint32_t *parents,
		 unsigned parent_nr, uint32_t order,
		 struct treediff_result *result, struct error *err);

/* ---- pairs of versions (treepair.c) */

/*
 * Compares two trees path by path and reports the pairs of objects that differ
 * at the same path: two versions of one file or directory. Reads only
 * directories that differ. A directory of the new tree may be at several paths.
 * Its entries are compared only at the first path at which it differs from the
 * old tree. So the cost grows with the number of different directories, and not
 * with the number of paths.
 */

/*
 * Receives two versions of a file or directory. `path` is relative to the roots
 * ("" for the roots themselves), and valid during the call. A nonzero return
 * ends the comparison and is returned.
 */
typedef int (*treepair_fn)(void *ctx, uint32_t new_pos, uint32_t old_pos,
			   enum object_type type, const char *path,
			   size_t path_len, struct error *err);

/*
 * Compares two trees, and calls `fn` for each pair of objects that differ at
 * the same path. If a version of a directory cannot be read, the entries of
 * this directory are skipped. Returns 0, ERR_NOMEM, or the nonzero value that
 * `fn` returned.
 */
int treepair_run(struct objspace *space, struct odb_reader *reader,
		 uint32_t new_tree, uint32_t old_tree, treepair_fn fn,
		 void *ctx, struct error *err);

/* ---- few changes (tree-changes.c) */

/*
 * A tree diff with a limit: finds the objects that a tree has and a similar
 * tree does not have at the same path. Only directories that differ are read,
 * and only entries that differ are looked up.
 *
 * An object may be in both trees at different paths. If a file was copied to a
 * second path, its object counts as new, although the old tree has the object.
 *
 * If a file was moved, its object is reported in two places: in `found`, which
 * has the objects at new paths, and in old->seen, which has the objects at
 * paths that the new tree lacks. The caller can leave out the objects of
 * `found` that are also in old->seen. Then moved objects do not count as new.
 *
 * Use tree_changes_find() for trees that differ in few entries. The function
 * gives up if the new tree has a directory at a path where the old tree has
 * none.
 */

/*
 * Limits of one comparison of a new tree with an old tree. An entry of the new
 * tree is added if the old tree has no entry of the same type at its path, and
 * replaced if that entry has another id. ADDED: maximum number of added
 * entries. CHANGED: maximum number of added and replaced entries together.
 */
#define TREE_CHANGES_ADDED_MAX 16
#define TREE_CHANGES_CHANGED_MAX 256

/*
 * Appends to `found` the trees and blobs of `new_tree` that `old_tree` does not
 * have at the same path. An object may be appended twice. Puts two kinds of
 * objects of the old tree into old->seen: objects that the new tree has
 * replaced by other objects at the same path, and objects at paths that the new
 * tree lacks.
 *
 * Returns 0 if `found` is complete, or 1 if a limit is exceeded, a directory
 * was added, an entry of a tree is malformed, or the new tree cannot be read.
 * Returns ERR_MISSING or ERR_CORRUPT if the old tree cannot be read, or
 * ERR_NOMEM.
 */
int tree_changes_find(struct walk_items *found, struct treewalk *old,
		      uint32_t old_tree, uint32_t new_tree, struct error *err);

#endif
