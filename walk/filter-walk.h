/* SPDX-License-Identifier: MIT */
/*
 * Walks trees through a filter that needs paths. A filter tree:<depth> needs
 * the smallest depth of each object. A filter sparse:oid needs all paths of
 * each object. The conditions of the filter on types and sizes are checked,
 * too.
 *
 * The entries of a tree are walked again if the tree is met at a smaller depth
 * than before. With sparse patterns, they are walked again at each new path.
 */
#ifndef WALK_FILTER_WALK_H
#define WALK_FILTER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trees/treewalk.h"
#include "walk/filter.h"

/* The state of one walk through a filter. Only one thread may use it. */
struct filter_walk {
	const struct filter *filter; /* borrowed */
	/*
	 * borrowed: the walk over trees, whose set `seen` has the objects that
	 * were processed
	 */
	struct treewalk *tree;
	/*
	 * indexed by obj_pos: objects that were in tree->seen before the walk,
	 * and so are never delivered
	 */
	struct bitset excluded;
	/*
	 * Borrowed, indexed by obj_pos: the set of wants that are in the result
	 * even if they do not pass the filter. If the walk meets a want as an
	 * entry of an earlier wanted tree, it removes the want from this set:
	 * as in stock Git, this want must then pass the filter. NULL: the walk
	 * does not look for such wants, and removes no want from any set.
	 *
	 * If `spared` is not NULL, the walk also reads trees whose entries do
	 * not pass the filter, to find wants among these entries. This costs
	 * time. So the caller passes a set only while wants are walked, and
	 * only if a want may be below an earlier wanted tree
	 * (filtered_may_nest()).
	 */
	struct bitset *spared;
	/*
	 * owned array, indexed by obj_pos. 0: the tree was not walked. n > 0:
	 * the smallest level at which the tree was walked is n - 1. The level
	 * of an object is explained in struct place of filter-walk.c
	 */
	uint32_t *depths;
	size_t depth_alloc;
	/*
	 * owned: hash set of the places where trees were walked. An element is
	 * a 64-bit hash of a tree and its path, or 0 for a free slot
	 */
	uint64_t *places;
	size_t place_nr, place_alloc;
};

/*
 * Initialises a walk. Objects that are in tree->seen now, and all objects below
 * them, will not be delivered. Returns 0 or ERR_NOMEM; the caller releases *fw
 * in both cases.
 */
int filter_walk_init(struct filter_walk *fw, const struct filter *filter,
		     struct treewalk *tree, struct error *err);
void filter_walk_release(struct filter_walk *fw);

/*
 * Walks a tree like treewalk_run(), and delivers only objects that pass the
 * filter. With `is_wanted`, the tree itself passes in any case, and its entries
 * count as depth 0. If `fn` returns a positive value for a tree, the tree's
 * entries are skipped.
 */
int filter_walk_run(struct filter_walk *fw, uint32_t tree_pos, const char *path,
		    bool is_wanted, treewalk_fn fn, void *ctx,
		    struct error *err);

/*
 * Delivers a wanted blob if the blob passes the filter. Some wanted blobs are
 * sent without a test of the filter (the set of filtered_spared()); this
 * function must not be called for them. The blob is at depth 0. Sparse patterns
 * are matched with `path`.
 */
int filter_walk_blob(struct filter_walk *fw, uint32_t blob_pos,
		     const char *path, treewalk_fn fn, void *ctx,
		     struct error *err);

/*
 * Returns 1 if an object meets the filter's conditions on type and size, 0 if
 * not, or a negative error code. Ignores the filter's depth and sparse
 * patterns. If the filter limits the size of blobs, reads the size of a blob; a
 * missing blob then passes.
 */
int filter_takes(const struct filter *filter, struct objspace *space,
		 struct odb_reader *reader, uint32_t obj_pos,
		 enum object_type type, struct error *err);

/*
 * Reads the patterns of all sparse:oid parts into filter->sparse. `resolve`
 * sets *oid to the object of a name, or returns a negative error code. Returns
 * 0, ERR_INVALID with stock Git's message if a blob cannot be read, or another
 * negative error code.
 */
int filter_load_sparse(struct filter *filter, struct odb_reader *reader,
		       int (*resolve)(void *ctx, const char *name,
				      struct oid *oid),
		       void *ctx, struct error *err);

#endif
