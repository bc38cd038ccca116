/* SPDX-License-Identifier: MIT */
/*
 * Chooses between the bitmap index and a walk, for requests that may be
 * answered with some objects too many.
 *
 * The cost of both ways is mainly that of comparing trees. A walk compares the
 * trees of all commits that are wanted and not had, and reads those of the
 * boundary. An index compares the trees of wanted commits without a bitmap, and
 * of the haves' commits on the way to bitmaps. Walking commits tells how many
 * these are, and costs little. So both sides are walked by turns until the
 * cheaper way is known. The wasted work is little compared to the work that
 * follows.
 *
 * If a filter omits trees and blobs, a walk reads only commits. Then measuring
 * the cost of the walk is the walk itself.
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
	/* the way with the lower estimated cost */
	BITMAP_STRATEGY_AUTO,
	BITMAP_STRATEGY_INDEX, /* the index */
	BITMAP_STRATEGY_WALK,  /* a walk */
};

/*
 * The choice and its reasons. Costs are in tree differences: comparing the
 * trees of one commit with those of its parents costs 1.
 */
struct bitmap_plan {
	enum bitmap_strategy strategy; /* input, set before */
	/* input: neither trees nor blobs are wanted */
	bool no_trees;
	/* constant string; NULL: nothing was planned */
	const char *reason;
	/* commits walked from the haves towards bitmaps */
	uint32_t have_commits;
	/* wanted and not had; UINT32_MAX: unknown */
	uint32_t want_commits;
	/* of these, in no bitmap of a wanted commit; 0 if unknown */
	uint32_t want_beyond;
	/* had, with a child that is wanted; UINT32_MAX: unknown */
	uint32_t boundary;
	uint64_t bitmap_cost; /* lower limit */
	uint64_t walk_cost;   /* UINT64_MAX: unknown */
};

/*
 * Walks the commits of the haves' side back to bitmaps, unless walking turns
 * out to be cheaper. Returns 0 if the index should be used, 1 if it should not
 * be used (walk instead) with the reason in *plan, or a negative error code.
 */
int bitmap_plan_haves(struct bitmap_plan *plan, struct bitmap_side *side,
		      struct walk *w, const struct walk_tips *wants,
		      const struct walk_tips *haves, struct error *err);

/*
 * Initialises a plan from what is known before any walking. Returns whether a
 * walk must answer the request.
 */
bool bitmap_plan_start(struct bitmap_plan *plan, bool has_haves);

/*
 * Parses "auto", "bitmap" or "walk". Returns 0, or ERR_INVALID for anything
 * else.
 */
int bitmap_strategy_parse(enum bitmap_strategy *out, const char *name);

#endif
