/* SPDX-License-Identifier: MIT */
/*
 * Finds the closure of some trees: the trees and all objects below them, as a
 * set. The paths of the objects, and the commits that added them, are not known
 * afterwards.
 *
 * Each tree of the set is decoded once. Trees of the same depth are read
 * together. If a tree and its delta base are among these trees, only the
 * entries that the delta inserts are looked at (tree-family.h): the copied
 * entries are looked at in the base. Any other tree is read whole. So no entry
 * is missed.
 */
#ifndef TREES_TREE_CLOSURE_H
#define TREES_TREE_CLOSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "sys/progress.h"
#include "trees/objspace.h"
#include "trees/walk-items.h"

struct tree_closure_options {
	/* number of threads; 0: as many as processors */
	unsigned threads;
	const struct progress_out *progress; /* NULL: none */
	/*
	 * limit of the bytes of decoded trees that each thread keeps; 0: the
	 * default
	 */
	size_t cache_limit;
	/* true: find only trees; false: find trees and blobs */
	bool trees_only;
};

/*
 * Appends to `found` the `nr` trees (obj_pos; repetitions are allowed) and all
 * trees and blobs below these trees. Each object is appended once, in no order.
 * Objects in `seen` are left out. If a tree is in `seen`, the objects below it
 * must be in `seen` as well, or be missing. The objects found are added to
 * `seen`. Returns 0, ERR_MISSING or ERR_CORRUPT if a tree cannot be read, or
 * ERR_NOMEM.
 */
int tree_closure_find(struct walk_items *found, struct bitset *seen,
		      struct objspace *space, const uint32_t *trees, size_t nr,
		      const struct tree_closure_options *options,
		      struct error *err);

#endif
