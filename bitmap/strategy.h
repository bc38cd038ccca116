/* SPDX-License-Identifier: MIT */
/*
 * Chooses between a query of the bitmap index and a walk. The two find somewhat
 * different results: a walk finds fewer of the client's objects. So the choice
 * is made only for requests for which the result need not be exact: the answer
 * may contain a few objects that the client already has.
 *
 * Most of the cost, with or without the index, is that of comparing trees. A
 * walk compares the trees of all commits that are wanted and not uninteresting,
 * and reads the trees of the boundary. A query of the index compares the trees
 * of two kinds of commits: wanted commits that no bitmap contains, and the
 * commits on the way from the haves back to the nearest commits with bitmaps.
 *
 * The cheaper way is chosen by a walk of only commits, which is cheap because
 * it reads no trees. The walk goes back from the wants and from the haves by
 * turns. It counts the commits whose trees must be compared if the index is
 * used, and the commits whose trees must be compared if it is not used. The
 * walk ends when the lower number is known. Little of this work is wasted.
 *
 * If a filter omits trees and blobs, a walk reads only commits. Then measuring
 * the cost of the walk already gives the walk's result.
 */
#ifndef BITMAP_STRATEGY_H
#define BITMAP_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/fill.h"
#include "walk/walk.h"

/* How to find the objects of a request: gitreach.bitmapStrategy. */
enum bitmap_strategy {
	/* use the index or a walk, whichever has the lower estimated cost */
	BITMAP_STRATEGY_AUTO,
	BITMAP_STRATEGY_INDEX, /* use the index */
	BITMAP_STRATEGY_WALK,  /* use a walk */
};

/*
 * Whether the index or a walk answers a request, and the reasons. A cost of 1
 * is one tree diff: comparing the trees of a commit with those of its parents.
 */
struct bitmap_plan {
	/* input: the strategy that the caller wants */
	enum bitmap_strategy strategy;
	/* input; true: the request needs neither trees nor blobs */
	bool no_trees;
	/*
	 * a constant string that says why the index or a walk was chosen; NULL:
	 * nothing was chosen yet
	 */
	const char *reason;
	/* number of commits walked from the haves back to bitmaps */
	uint32_t have_commits;
	/*
	 * number of wanted commits that the haves do not reach; UINT32_MAX:
	 * unknown
	 */
	uint32_t want_commits;
	/*
	 * of the want_commits commits, the number of those that no bitmap of a
	 * wanted commit contains; 0 if unknown
	 */
	uint32_t want_beyond;
	/*
	 * number of uninteresting commits with a wanted child; UINT32_MAX:
	 * unknown
	 */
	uint32_t boundary;
	/* lower limit of the cost of answering with the index, in tree diffs */
	uint64_t bitmap_cost;
	/* cost of answering with a walk, in tree diffs; UINT64_MAX: unknown */
	uint64_t walk_cost;
};

/*
 * Walks from the haves back to commits with bitmaps, unless a walk without the
 * index turns out to be cheaper. Returns 0 if the index should be used, or a
 * negative error code. Returns 1 if the index should not be used (walk
 * instead), with the reason in *plan.
 */
int bitmap_plan_haves(struct bitmap_plan *plan, struct bitmap_side *side,
		      struct walk *w, const struct walk_tips *wants,
		      const struct walk_tips *haves, struct error *err);

/*
 * Initialises a plan before any commit is walked. Returns true if the plan
 * already says that a walk must answer the request.
 */
bool bitmap_plan_start(struct bitmap_plan *plan, bool has_haves);

/*
 * Parses "auto", "bitmap" or "walk". Returns 0, or ERR_INVALID for other names.
 */
int bitmap_strategy_parse(enum bitmap_strategy *out, const char *name);

#endif
