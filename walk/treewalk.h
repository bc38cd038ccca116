/* SPDX-License-Identifier: MIT */
/*
 * Objects of trees, one after the other: the plain walk, in the order and with
 * the paths that `git rev-list --objects` prints. It is the oracle that tree
 * differences (newobj.h) and bitmaps are tested against.
 */
#ifndef WALK_TREEWALK_H
#define WALK_TREEWALK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "ewah/bitset.h"
#include "names/pathspec.h"
#include "object/parse.h"
#include "odb/odb.h"
#include "walk/item-kinds.h"
#include "walk/objspace.h"

/* One walk; one thread. */
struct treewalk {
	struct objspace *space;       /* borrowed */
	struct odb_reader *reader;    /* borrowed */
	struct bitset seen;           /* by obj_pos: met before, or excluded */
	const struct pathspec *paths; /* borrowed, may be set; NULL: all. What
					 it does not list or take is passed
					 over, and not seen */
	struct item_kinds kinds;      /* of what was met, but excluded trees */
	struct buf path;              /* of the current entry */
};

/*
 * Receives each object once, a tree before its entries; `path` is relative to
 * the root ("" for the root itself), valid during the call. A negative return
 * ends the walk; a positive one for a tree passes over its entries.
 */
typedef int (*treewalk_fn)(void *ctx, uint32_t obj_pos, enum object_type type,
			   const char *path, size_t path_len,
			   struct error *err);

/* 0 or ERR_NOMEM; release in any case. */
int treewalk_init(struct treewalk *w, struct objspace *space,
		  struct odb_reader *reader);
void treewalk_release(struct treewalk *w);

/*
 * Mark an object seen. Returns 1 when it was not before, 0 when it was, or
 * ERR_NOMEM.
 */
int treewalk_see(struct treewalk *w, uint32_t obj_pos);

/*
 * Walk a tree whose path is `path`, delivering what was not seen yet. An object
 * that is met both as a tree and as a blob is ERR_CORRUPT. `fn`
 * NULL: only mark (how excluded trees are painted), whatever w->paths; an
 * excluded tree that is missing is passed over then.
 */
int treewalk_run(struct treewalk *w, uint32_t tree_pos, const char *path,
		 treewalk_fn fn, void *ctx, struct error *err);

/*
 * Read a tree at a depth below the root of a walk: 0, or negative and named in
 * the error when it is missing, no tree, or nested too deeply. Release it with
 * odb_object_release() in the first case.
 */
int treewalk_read(struct treewalk *w, uint32_t tree_pos, unsigned depth,
		  struct odb_object *tree, struct error *err);

/* The error for a tree whose entries cannot be parsed: ERR_CORRUPT. */
int treewalk_malformed(struct treewalk *w, uint32_t tree_pos,
		       struct error *err);

/* Lengthen the path by a component. 0 or ERR_NOMEM. */
int treewalk_enter(struct treewalk *w, const struct tree_entry *entry);

#endif
