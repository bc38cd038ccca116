/* SPDX-License-Identifier: MIT */
/*
 * Everything that some trees hold, as a set: the enumeration for those who ask
 * neither where an object is nor which commit brought it.
 *
 * Each tree is decoded once, next to its delta base, and of one that is stored
 * as a delta only what the delta inserts is looked at (tree-family.h): the rest
 * is in its base, which is in the set too, with all it holds. Whatever is put
 * into the set is looked at sooner or later, and a chain of deltas ends at a
 * tree that is read whole.
 */
#ifndef WALK_TREE_CLOSURE_H
#define WALK_TREE_CLOSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "sys/progress.h"
#include "walk/objspace.h"
#include "walk/walk.h"

struct tree_closure_options {
	unsigned threads;                    /* 0: as many as processors */
	const struct progress_out *progress; /* NULL: none */
	size_t cache_limit; /* bytes of decoded trees per thread,
			       0: the default */
	bool trees_only;    /* blobs are left out, and not looked up */
};

/*
 * Append to `found` the `nr` trees (obj_pos, any number of times each) and all
 * trees and blobs below them, each once, in no order; but for what is in
 * `seen`. That set has obj_pos of objects that are done with: of a tree in it,
 * all that it holds is in it as well, or not to be found either. What is found
 * is added to it. 0; ERR_MISSING or ERR_CORRUPT for a tree that is not there
 * or cannot be read; ERR_NOMEM.
 */
int tree_closure_find(struct walk_items *found, struct bitset *seen,
		      struct objspace *space, const uint32_t *trees, size_t nr,
		      const struct tree_closure_options *options,
		      struct error *err);

#endif
