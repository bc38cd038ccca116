/* SPDX-License-Identifier: MIT */
/*
 * The plain walk over trees: lists objects one by one, in the order and with
 * the paths that `git rev-list --objects` prints. Tests compare tree diffs
 * (walk/newobj.h) and bitmaps with this walk.
 */
#ifndef TREES_TREEWALK_H
#define TREES_TREEWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "ewah/bitset.h"
#include "names/pathspec.h"
#include "object/parse.h"
#include "odb/odb.h"
#include "trees/item-kinds.h"
#include "trees/objspace.h"

/* The state of one walk over trees. Only one thread may use it. */
struct treewalk {
	struct objspace *space;    /* borrowed */
	struct odb_reader *reader; /* borrowed */
	/*
	 * indexed by obj_pos: objects that the walk does not deliver, because
	 * it has met them already or because they are excluded
	 */
	struct bitset seen;
	/*
	 * May be set by the caller; borrowed; NULL: all paths. Objects that the
	 * pathspec does not match are skipped, and not put into `seen`.
	 */
	const struct pathspec *paths;
	/*
	 * May be set by the caller. true: a tree that is missing is skipped.
	 * false: it is an error.
	 */
	bool skips_missing;
	/*
	 * The objects that were met as trees, and those that were met as blobs.
	 * An object in both sets is an error. Objects in excluded trees are not
	 * recorded.
	 */
	struct item_kinds kinds;
	/* path of the entry that is being visited */
	struct buf path;
};

/*
 * Receives each object once, a tree before its entries. `path` is relative to
 * the root ("" for the root itself), and valid during the call. A negative
 * return value ends the walk. A positive value for a tree skips the tree's
 * entries.
 */
typedef int (*treewalk_fn)(void *ctx, uint32_t obj_pos, enum object_type type,
			   const char *path, size_t path_len,
			   struct error *err);

/*
 * Initialises a walk over trees. Returns 0 or ERR_NOMEM; the caller releases
 * the walk in both cases.
 */
int treewalk_init(struct treewalk *w, struct objspace *space,
		  struct odb_reader *reader);
void treewalk_release(struct treewalk *w);

/*
 * Adds an object to w->seen. Returns 1 if the object was not in the set before,
 * 0 if it was, or ERR_NOMEM.
 */
int treewalk_see(struct treewalk *w, uint32_t obj_pos);

/*
 * Walks a tree at `path`, and delivers the objects that are not in w->seen.
 * With `fn` NULL, objects are only put into w->seen, to exclude them: w->paths
 * is ignored, and a missing tree is skipped. Returns 0, ERR_CORRUPT if an
 * object is met both as a tree and as a blob, or another negative error code.
 */
int treewalk_run(struct treewalk *w, uint32_t tree_pos, const char *path,
		 treewalk_fn fn, void *ctx, struct error *err);

/*
 * Reads a tree at a depth below the root of a walk. Returns 0, and the caller
 * releases *tree with odb_object_release(). Returns a negative error code if
 * the tree is missing, is no tree, or is nested too deeply. The error then
 * names the tree's id.
 */
int treewalk_read(struct treewalk *w, uint32_t tree_pos, unsigned depth,
		  struct odb_object *tree, struct error *err);

/* Sets the error "malformed tree: <id>". Returns ERR_CORRUPT. */
int treewalk_malformed(struct treewalk *w, uint32_t tree_pos,
		       struct error *err);

/*
 * Appends an entry's name to the current path w->path. Returns 0 or ERR_NOMEM.
 */
int treewalk_enter(struct treewalk *w, const struct tree_entry *entry);

#endif
