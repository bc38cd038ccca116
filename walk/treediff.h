/* SPDX-License-Identifier: MIT */
/*
 * A tree diff of one commit's tree and its parents' trees: the entries that no
 * parent has at the same path. This is the inner loop of newobj.h.
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
 * For union_only: which trees were listed. By packed obj_pos: the `order` plus
 * one of a commit whose list has this tree (any such commit), 0 for none.
 * Shared by all threads.
 */
struct treediff_shared {
	_Atomic uint32_t *listed_by; /* owned; NULL: unused */
	size_t nr;
};

int treediff_shared_init(struct treediff_shared *shared, size_t nr);
void treediff_shared_release(struct treediff_shared *shared);

/* The working memory of one thread: a tree store and the lists. */
struct treediff;

/*
 * Makes a treediff. `shared` NULL: lists are complete, except for objects that
 * the options leave out. The options are borrowed for the call. Returns NULL if
 * memory runs out.
 */
struct treediff *treediff_new(struct objspace *space,
			      struct treediff_shared *shared,
			      const struct newobj_options *options,
			      size_t cache_limit);
void treediff_free(struct treediff *d);

/*
 * The result of a run, valid until the next. Trees come in depth-first order, a
 * tree before its subtrees.
 */
struct treediff_result {
	const struct newobj *trees, *blobs;
	size_t tree_nr, blob_nr;
};

/*
 * Compares tree `tree_pos` with the trees of `parent_nr` <= NEWOBJ_MAX_PARENTS
 * parents. `order` is the commit's index in the parents-first array. A parent's
 * tree that cannot be read is ignored. Returns 0, ERR_MISSING if a tree of the
 * commit is missing, ERR_CORRUPT if one is malformed, or another negative error
 * code.
 */
int treediff_run(struct treediff *d, uint32_t tree_pos, const uint32_t *parents,
		 unsigned parent_nr, uint32_t order,
		 struct treediff_result *result, struct error *err);

#endif
