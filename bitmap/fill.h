/* SPDX-License-Identifier: MIT */
/*
 * Walks that bitmaps shorten:
 *
 *   fill.c      adds the closure of tips to a set
 *   boundary.c  finds which objects of the wants' bitmaps the haves reach
 *   disjoint.c  finds commits that do not reach any object of a set
 *   coverage.c  measures how many commits requests walk
 *
 * A fill walks back from tips to the nearest commits with bitmaps, and ORs
 * these bitmaps. A set of objects has two parts: `packed`, by bit_pos, and
 * `outside`, by obj_pos, for objects that are not indexed.
 */
#ifndef BITMAP_FILL_H
#define BITMAP_FILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/file.h"
#include "bitmap/space.h"
#include "ewah/bitset.h"
#include "odb/odb.h"
#include "walk/walk.h"

/* The bitmaps that were used, in the order of their use. */
struct bitmap_trace {
	uint32_t *rows; /* owned: rows of commits */
	size_t row_nr, row_alloc;
	/* owned: numbers of pseudo-merges */
	uint32_t *pseudo;
	size_t pseudo_nr, pseudo_alloc;
};

void bitmap_trace_release(struct bitmap_trace *trace);

struct bitmap_fill {
	const struct bitmap_file *file; /* borrowed */
	struct bitmap_space space;
	struct walk *w; /* borrowed */
	/*
	 * Borrowed; may be set before anything is added. Trees and blobs of
	 * walked commits that do not pass need not be found. NULL: all are
	 * found.
	 */
	const struct filter *filter;
	/* by bit_pos: reached so far */
	struct bitset packed;
	/* by obj_pos: reached so far */
	struct bitset outside;
	struct bitset scratch;
	/* owned: made once many bits were looked up */
	struct bitmap_space_table table;
	/* lookups made without `table` */
	uint32_t lookups;
	uint32_t bitmaps_used, pseudo_merges_used, commits_walked;
	/* objects added without a bitmap */
	uint64_t objects_walked;
	/* borrowed, appended to; may be NULL */
	struct bitmap_trace *trace;
};

/*
 * Makes an empty set. Returns 0 or ERR_NOMEM. The caller releases it in any
 * case.
 */
int bitmap_fill_init(struct bitmap_fill *fill, const struct bitmap_file *file,
		     struct bitmap_space space, struct walk *w,
		     struct error *err);
void bitmap_fill_release(struct bitmap_fill *fill);

/* Makes the set empty, and zeroes the counters. */
void bitmap_fill_clear(struct bitmap_fill *fill);

/*
 * Adds only the commits that the tips reach. Other reachable objects are added
 * incompletely. This is for counting the commits to walk.
 */
int bitmap_fill_commits(struct bitmap_fill *fill, const struct walk_tips *tips,
			struct error *err);

/*
 * Adds the closure of the tips to the set. Objects that are not indexed are
 * appended to *others too (NULL: not wanted).
 */
int bitmap_fill_tips(struct bitmap_fill *fill, const struct walk_tips *tips,
		     struct walk_items *others, struct error *err);

/* The same in steps, for callers that want to estimate the cost in between. */
struct bitmap_side;

/* Begins with tips, which are borrowed until the end. The caller frees *out. */
int bitmap_side_start(struct bitmap_side **out, struct bitmap_fill *fill,
		      const struct walk_tips *tips, struct walk_items *others,
		      struct error *err);
void bitmap_side_free(struct bitmap_side *side);

/*
 * Adds commits, newest first, and the bitmaps of those that have one, until
 * `limit` commits without bitmap were walked. Returns 0 if all are added, 1 if
 * there are more (call it again with a higher limit), or a negative error code.
 */
int bitmap_side_walk(struct bitmap_side *side, size_t limit, struct error *err);

/* Returns whether a commit of the history has a bitmap. */
bool bitmap_side_has_bitmap(const struct bitmap_side *side, uint32_t commit_nr);

/*
 * Estimates the number of commits to walk from one commit to those with
 * bitmaps. For an indexed commit it counts, up to `most`, in the order of the
 * pack, which has newer commits first. For another commit it uses the number of
 * packed objects that are not indexed, or returns `most` if the index is empty.
 * O(most + words of a type bitmap).
 */
size_t bitmap_side_distance(const struct bitmap_side *side, uint32_t commit_nr,
			    size_t most);

/*
 * Returns the commit at which bitmap_side_walk() would continue, the newest in
 * the queue. Returns false if there is none.
 */
bool bitmap_side_next(struct bitmap_side *side, uint32_t *commit_nr);

/* Returns the walked commits (commit_nr), valid until the next call. */
const uint32_t *bitmap_side_walked(const struct bitmap_side *side, size_t *nr);

/*
 * Call this after the walk has ended. Adds the trees and blobs of the walked
 * commits if `trees`, and the tips that are not commits.
 */
int bitmap_side_finish(struct bitmap_side *side, bool trees, struct error *err);

/* ---- boundary traversal */

/*
 * Boundary traversal. Objects of the haves without a bitmap are found only if
 * the bitmaps of the wants contain them.
 *
 * 	wants      o---o---B          B: a commit with a bitmap
 * 	          /
 * 	   ------o---b---h            b, h: haves' commits without one
 *
 * At this point the commits of both sides are known, and the objects in the
 * wants' bitmaps. These bitmaps contain b and its tree. So the tree of b is
 * read, to find the objects that the haves have; trees that the bitmaps do not
 * contain are skipped. The tree of h is not read, since only the haves reach h.
 */

/*
 * Adds objects to `had`: those of fill->packed that are in trees of `commits`,
 * commits without a bitmap. `had` is by bit_pos and no smaller than
 * fill->packed. A tree that is already in `had` or not in fill->packed is not
 * read; objects below it may be missing in `had` if they also occur elsewhere.
 * Returns 0, ERR_MISSING or ERR_CORRUPT for an unreadable tree, or ERR_NOMEM.
 */
int bitmap_boundary_settle(struct bitset *had, struct bitmap_fill *fill,
			   const uint32_t *commits, size_t nr,
			   struct error *err);

/* ---- commits that do not reach a set */

/*
 * Finds commits that do not reach any object of a set, by their bitmaps. A
 * search for the commits that reach these objects need not walk past such a
 * commit.
 */

/*
 * Adds indexed commits that reach no object of `set` (by bit_pos) to *bounds.
 * All added commits are parsed. Returns 0, or a negative error code with some
 * commits added. ERR_CORRUPT means a broken bitmap.
 *
 * With an empty set the first indexed commits on all paths from `wants` are
 * added, since the index is closed under reachability. Otherwise commits with
 * bitmaps are added, except those that another added commit reaches. Commits
 * between bitmaps are not considered.
 *
 * The cost is that of walking these paths, or of decoding each bitmap that no
 * added commit covers.
 */
int bitmap_disjoint_commits(struct walk_tips *bounds,
			    const struct bitmap_file *file,
			    const struct bitmap_space *space, struct walk *w,
			    const struct walk_tips *wants,
			    const struct bitset *set, struct error *err);

/* ---- measuring */

/*
 * Measures how well bitmaps serve some tips: how many commits a request for
 * each tip walks, and a request for all of them.
 *
 * It does what a query does (bitmap/fill.h), but reads no trees.
 */

struct bitmap_coverage {
	/* number of different commits */
	uint32_t tip_nr;
	/* commits with a bitmap: requests for them walk 0 commits */
	uint32_t with_bitmap;
	/* commits walked by requests for one tip each: sum, */
	uint64_t walked_sum;
	/* median, the lower one of two, */
	uint32_t walked_median;
	uint32_t walked_max;
	/* commits walked by one request for all tips */
	uint32_t walked_together;
};

/*
 * Measures the commits in `tips`. `fill` is initialised; its content afterwards
 * is undefined. Without tips all numbers are 0. Returns 0, or a negative error
 * code with *coverage zeroed. Each bitmap that a request uses is decoded once
 * per tip.
 */
int bitmap_coverage_measure(struct bitmap_coverage *coverage,
			    struct bitmap_fill *fill,
			    const struct walk_tips *tips, struct error *err);

#endif
