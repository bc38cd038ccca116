/* SPDX-License-Identifier: MIT */
/*
 * Walks that bitmaps shorten:
 *
 *   fill.c      adds the closure of tips to a set
 *   boundary.c  finds out which objects of the wants' bitmaps the haves reach
 *   disjoint.c  finds commits that do not reach any object of a set
 *   coverage.c  measures how many commits requests walk
 *
 * A fill is a set of objects that grows by closures of tips. To add a closure,
 * the code walks back from the tips to the nearest commits with bitmaps, and
 * ORs these bitmaps. The set has two parts: `packed`, indexed by bit_pos, and
 * `outside`, indexed by obj_pos, for objects that the index does not have.
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

/* Collects which bitmaps a query has used, in the order of their use. */
struct bitmap_trace {
	uint32_t *rows; /* owned: rows of commits */
	size_t row_nr, row_alloc;
	/* owned: numbers of the pseudo-merges that the query used */
	uint32_t *pseudo;
	size_t pseudo_nr, pseudo_alloc;
};

void bitmap_trace_release(struct bitmap_trace *trace);

struct bitmap_fill {
	const struct bitmap_file *file; /* borrowed */
	struct bitmap_space space;
	struct walk *w; /* borrowed */
	/*
	 * Borrowed; may be set before the first tip is added. Trees and blobs
	 * that this filter removes need not be added to the set. NULL: all
	 * trees and blobs are added.
	 */
	const struct filter *filter;
	/* one bit per bit_pos: the set's objects that the index covers */
	struct bitset packed;
	/*
	 * one bit per obj_pos: the set's objects that the index does not cover
	 */
	struct bitset outside;
	struct bitset scratch;
	/*
	 * owned: table of the bit positions of all objects; made only after
	 * many single lookups
	 */
	struct bitmap_space_table table;
	/* number of lookups so far; counted until `table` is made */
	uint32_t lookups;
	uint32_t bitmaps_used, pseudo_merges_used, commits_walked;
	/*
	 * number of objects of the set that come from walked commits, not from
	 * a bitmap
	 */
	uint64_t objects_walked;
	/*
	 * borrowed: collects the rows and pseudo-merges that are used; NULL: do
	 * not collect
	 */
	struct bitmap_trace *trace;
};

/*
 * Initialises *fill with an empty set. Returns 0 or ERR_NOMEM. The caller
 * releases *fill in any case.
 */
int bitmap_fill_init(struct bitmap_fill *fill, const struct bitmap_file *file,
		     struct bitmap_space space, struct walk *w,
		     struct error *err);
void bitmap_fill_release(struct bitmap_fill *fill);

/* Makes the set of a fill empty, and zeroes its counters. */
void bitmap_fill_clear(struct bitmap_fill *fill);

/*
 * Adds all commits that the tips reach. Used to count the commits that a query
 * walks. Trees, blobs and tags are added only if a used bitmap contains them.
 * Returns 0 or a negative error code.
 */
int bitmap_fill_commits(struct bitmap_fill *fill, const struct walk_tips *tips,
			struct error *err);

/*
 * Adds the closure of the tips to the set. Objects that are not indexed are
 * also appended to *others, unless `others` is NULL. Returns 0 or a negative
 * error code.
 */
int bitmap_fill_tips(struct bitmap_fill *fill, const struct walk_tips *tips,
		     struct walk_items *others, struct error *err);

/*
 * One side of a query: the haves or the wants. Its closure is added to the set
 * in steps. Between two steps, the caller can estimate the cost of the whole
 * query.
 */
struct bitmap_side;

/*
 * Begins to add the closure of `tips` (all objects that they reach) to the set
 * of `fill`. `tips` are one of the two sides of the query: the haves or the
 * wants. *out is a new object with the state of this work. bitmap_side_walk()
 * does the first part of the work. Objects of the closure that are not indexed
 * are also appended to *others, unless `others` is NULL. `tips` and `others`
 * are borrowed until bitmap_side_free(). The caller frees *out. Returns 0 or a
 * negative error code.
 */
int bitmap_side_start(struct bitmap_side **out, struct bitmap_fill *fill,
		      const struct walk_tips *tips, struct walk_items *others,
		      struct error *err);
void bitmap_side_free(struct bitmap_side *side);

/*
 * Adds the next part of the closure of one side (haves or wants) to the set.
 * Walks the commits of the side, newest first. If a commit has a bitmap, adds
 * all objects of the bitmap; else adds only the commit. Stops when `limit`
 * commits without a bitmap were visited since bitmap_side_start().
 *
 * Returns 0 if no commits are left, 1 if commits are left (call the function
 * again with a higher limit), or a negative error code.
 */
int bitmap_side_walk(struct bitmap_side *side, size_t limit, struct error *err);

/* Returns whether the commit `commit_nr` has a bitmap. */
bool bitmap_side_has_bitmap(const struct bitmap_side *side, uint32_t commit_nr);

/*
 * Estimates how many commits one side of a query must walk, from the commit
 * `commit_nr` back to commits with bitmaps. O(most + words of a type bitmap).
 *
 * If the commit is in the index, its ancestors come after it in the pack,
 * because newer commits come first. So the function counts the commits in the
 * order of the pack: from this commit up to the next commit with a bitmap. The
 * count stops at `most`.
 *
 * If the commit is not in the index, the function estimates the number of
 * commits that the index lacks. For this, it multiplies two numbers: the number
 * of packed objects that the index lacks, and the share of commits among the
 * indexed objects. The estimate may be more than `most`. If the index is empty,
 * the function returns `most`.
 */
size_t bitmap_side_distance(const struct bitmap_side *side, uint32_t commit_nr,
			    size_t most);

/*
 * Sets *commit_nr to the newest commit in the queue: the commit that
 * bitmap_side_walk() would visit next. Returns false if the queue is empty.
 */
bool bitmap_side_next(struct bitmap_side *side, uint32_t *commit_nr);

/*
 * Returns the visited commits without a bitmap (commit_nr), valid until the
 * next call.
 */
const uint32_t *bitmap_side_walked(const struct bitmap_side *side, size_t *nr);

/*
 * The last step, after bitmap_side_walk() has visited all commits. Adds the
 * tips that are not commits. With `trees`, also adds the trees and blobs of the
 * visited commits that have no bitmap. Returns 0 or a negative error code.
 */
int bitmap_side_finish(struct bitmap_side *side, bool trees, struct error *err);

/* ---- boundary traversal */

/*
 * Boundary traversal finds objects that the client has. Haves without a bitmap
 * reach many objects, but the server needs to know them only if the wants'
 * bitmaps contain them, too. So only the trees that may have such objects are
 * read.
 *
 *	wants          o---B          B: a wanted commit with a bitmap
 *	              /
 *	   ------o---b---h            b, h: commits without a bitmap that the
 *	                              haves reach
 *
 * Before this step, three sets are known: the commits that the wants reach, the
 * commits that the haves reach, and the objects in the wants' bitmaps. The
 * bitmap of B contains b and its tree, because b is an ancestor of B. So the
 * tree of b is read, to find the objects that the client has. Trees that the
 * wants' bitmaps do not contain are skipped. The tree of h is not read, since
 * only the haves reach h.
 */

/*
 * `commits` lists commits without a bitmap that the haves reach. Reads the
 * trees of these commits. An object of these trees is added to `uninteresting`
 * if it is also in fill->packed. `uninteresting` is indexed by bit_pos and has
 * at least as many bits as fill->packed.
 *
 * A tree is not read if it is already in `uninteresting`, or if it is not in
 * fill->packed. So some objects are not added, although the haves reach them:
 * the objects that are only in trees that are not read.
 *
 * Returns 0, ERR_MISSING or ERR_CORRUPT if a tree cannot be read, or ERR_NOMEM.
 */
int bitmap_boundary_settle(struct bitset *uninteresting,
			   struct bitmap_fill *fill, const uint32_t *commits,
			   size_t nr, struct error *err);

/* ---- commits that do not reach a set */

/*
 * Finds commits whose bitmaps have no object of a set. No ancestor of these
 * commits reaches an object of the set. So a search for commits that reach an
 * object of the set can stop at these commits.
 */

/*
 * `set` (indexed by bit_pos) has the indexed objects that a search looks for.
 * The search walks from `wants`. This function finds indexed commits that reach
 * no object of `set`, and appends them to *bounds. The search can stop at these
 * commits. All appended commits are parsed. Returns 0, or a negative error code
 * with some commits appended. ERR_CORRUPT means a broken bitmap.
 *
 * A commit is appended if it has a bitmap without any object of the set, and no
 * other appended commit reaches it. Commits without a bitmap are not
 * considered.
 *
 * If the set is empty, the search looks only for objects that are not indexed.
 * No indexed commit reaches such an object, because the index has all objects
 * that its commits reach. In this case, the search can stop at any indexed
 * commit. So the function walks from `wants`, and appends the first indexed
 * commit on each path.
 *
 * Cost: with an empty set, walking these paths. Otherwise, decoding bitmaps.
 * The commits with bitmaps are visited from the newest to the oldest. If a
 * commit that is already appended reaches the visited one, its bitmap is
 * skipped. All other bitmaps are decoded.
 */
int bitmap_disjoint_commits(struct walk_tips *bounds,
			    const struct bitmap_file *file,
			    const struct bitmap_space *space, struct walk *w,
			    const struct walk_tips *wants,
			    const struct bitset *set, struct error *err);

/* ---- measuring */

/*
 * The result of measuring how far requests walk before they reach bitmaps: one
 * request for each tip alone, and one request for all tips together. The
 * measurement walks like a query, but reads no trees.
 */

struct bitmap_coverage {
	/* number of different commits that are tips */
	uint32_t tip_nr;
	/*
	 * number of tips that have a bitmap; a request for such a tip walks no
	 * commit
	 */
	uint32_t with_bitmap;
	/*
	 * number of commits that a request for one tip walks, summed over all
	 * tips
	 */
	uint64_t walked_sum;
	/*
	 * number of commits that a request for one tip walks, median over all
	 * tips
	 */
	uint32_t walked_median;
	uint32_t walked_max;
	/* number of commits that one request for all tips walks */
	uint32_t walked_together;
};

/*
 * Measures how far requests for the commits in `tips` walk before they reach
 * bitmaps (struct bitmap_coverage). For each tip, the bitmaps that a request
 * for this tip would use are decoded. `fill` must be initialised; the content
 * of `fill` is undefined afterwards. Without tips all numbers are 0. Returns 0
 * or a negative error code. After an error, *coverage is zeroed.
 */
int bitmap_coverage_measure(struct bitmap_coverage *coverage,
			    struct bitmap_fill *fill,
			    const struct walk_tips *tips, struct error *err);

#endif
