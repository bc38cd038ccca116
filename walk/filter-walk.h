/* SPDX-License-Identifier: MIT */
/*
 * A walk over trees through a filter for which paths matter: tree:<depth>,
 * which asks for the least depth at which an object is found, and sparse:oid,
 * which asks for any path that is taken in. Types and sizes are asked for on
 * the way.
 *
 * A tree is walked again only when it is met nearer to the root than before
 * or, with sparse patterns, on a path on which it was not met before.
 */
#ifndef WALK_FILTER_WALK_H
#define WALK_FILTER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "walk/filter.h"
#include "walk/treewalk.h"

/* One walk; one thread. */
struct filter_walk {
	const struct filter *filter; /* borrowed */
	struct treewalk *tree;       /* borrowed: its `seen` is what is done
					with */
	struct bitset excluded;      /* by obj_pos: seen when it began */
	uint32_t *depths;            /* owned, by obj_pos: the least depth at
					which a tree was walked; 0: never */
	size_t depth_alloc;
	uint64_t *places; /* owned: hashes of trees with their paths, open
			     addressing; 0 is free */
	size_t place_nr, place_alloc;
};

/*
 * What is seen in `tree` already, and all below it, is never delivered. 0 or
 * ERR_NOMEM; release in any case.
 */
int filter_walk_init(struct filter_walk *fw, const struct filter *filter,
		     struct treewalk *tree, struct error *err);
void filter_walk_release(struct filter_walk *fw);

/*
 * As treewalk_run(), for what passes the filter; `is_wanted`: the tree itself
 * passes in any case, and what is in it counts as depth 0. A positive return of
 * `fn` passes over a tree's entries.
 */
int filter_walk_run(struct filter_walk *fw, uint32_t tree_pos, const char *path,
		    bool is_wanted, treewalk_fn fn, void *ctx,
		    struct error *err);

/*
 * Whether a filter lets an object through wherever it is found: 1, 0 or
 * negative. Asks for the size of a blob where that matters; one that is
 * missing passes.
 */
int filter_takes(const struct filter *filter, struct objspace *space,
		 struct odb_reader *reader, uint32_t obj_pos,
		 enum object_type type, struct error *err);

/*
 * Read the patterns that sparse:oid parts name. `resolve` turns a name into
 * an id, or returns a negative error. ERR_INVALID in Git's words when there is
 * no such blob.
 */
int filter_load_sparse(struct filter *filter, struct odb_reader *reader,
		       int (*resolve)(void *ctx, const char *name,
				      struct oid *oid),
		       void *ctx, struct error *err);

#endif
