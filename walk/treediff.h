/* SPDX-License-Identifier: MIT */
/*
 * One commit's tree against its parents' trees: the entries that no parent
 * has at the same path. The inner loop of newobj.h.
 */
#ifndef WALK_TREEDIFF_H
#define WALK_TREEDIFF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "walk/newobj.h"
#include "walk/objspace.h"

/*
 * For union_only: by packed obj_pos, the number plus one of a commit whose
 * list has this tree (any of them); shared by all threads.
 */
struct treediff_shared {
	_Atomic uint32_t *listed_by; /* owned; NULL: unused */
	size_t nr;
};

int treediff_shared_init(struct treediff_shared *shared, size_t nr);
void treediff_shared_release(struct treediff_shared *shared);

/* Working memory of one thread: a reader with its cache, and the lists. */
struct treediff;

/*
 * `shared` NULL: complete lists, but for what the options (borrowed for the
 * call) leave out. NULL when out of memory.
 */
struct treediff *treediff_new(struct objspace *space,
			      struct treediff_shared *shared,
			      const struct newobj_options *options,
			      size_t cache_limit);
void treediff_free(struct treediff *d);

/* Valid until the next run. Trees in depth-first order, a tree before its
 * subtrees. */
struct treediff_result {
	const struct newobj *trees, *blobs;
	size_t tree_nr, blob_nr;
};

/*
 * Compare tree `tree_pos` with those of `parent_nr` <= NEWOBJ_MAX_PARENTS
 * parents. `order` is the commit's place in the parents-first array. A
 * parent's tree that cannot be read is not compared with; a missing tree of the
 * commit itself is ERR_MISSING, a malformed one ERR_CORRUPT.
 */
int treediff_run(struct treediff *d, uint32_t tree_pos, const uint32_t *parents,
		 unsigned parent_nr, uint32_t order,
		 struct treediff_result *result, struct error *err);

#endif
