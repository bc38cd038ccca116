/* SPDX-License-Identifier: MIT */
/*
 * Choosing between the bitmap index and a walk, for requests that may be
 * answered with some objects too many.
 *
 * Both ways have to look at trees, and that is what they cost: a walk at those
 * of all commits that are wanted and not had, and at those of the boundary; an
 * index at those of wanted commits that no bitmap has, and of haves' commits on
 * the way to bitmaps. How many these are is known when commits were walked,
 * which costs little: so both sides are walked by turns, as far as it takes to
 * know which is less. What was done in vain is little beside what is done then.
 *
 * Where a filter leaves out trees and blobs, commits are all that a walk looks
 * at: who knows what walking costs has done it.
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
	BITMAP_STRATEGY_AUTO,  /* as is estimated to cost less */
	BITMAP_STRATEGY_INDEX, /* by the index */
	BITMAP_STRATEGY_WALK,  /* by walking */
};

/*
 * The choice, and what it came from. Costs are in tree differences: what it
 * takes to compare the trees of one commit with those of its parents.
 */
struct bitmap_plan {
	enum bitmap_strategy strategy; /* given: before */
	bool no_trees;      /* given: neither trees nor blobs are asked for */
	const char *reason; /* constant; NULL: nothing was planned */
	uint32_t have_commits; /* from the haves back to bitmaps, at least */
	uint32_t want_commits; /* wanted and not had; UINT32_MAX: not known */
	uint32_t want_beyond;  /* of these, in no bitmap of a wanted one; 0 if
				  they are not known */
	uint32_t boundary;     /* had, with a child that is wanted; likewise */
	uint64_t bitmap_cost;  /* at least */
	uint64_t walk_cost;    /* UINT64_MAX: not known */
};

/*
 * Walk the commits of the haves' side back to bitmaps, unless that turns out to
 * be the worse way: 1 then, with the reason in *plan. 0 or negative as
 * bitmap_side_walk().
 */
int bitmap_plan_haves(struct bitmap_plan *plan, struct bitmap_side *side,
		      struct walk *w, const struct walk_tips *wants,
		      const struct walk_tips *haves, struct error *err);

/*
 * Begin: what is known before anything was walked. Whether it is settled that
 * the answer comes from a walk.
 */
bool bitmap_plan_start(struct bitmap_plan *plan, bool has_haves);

/* "auto", "bitmap" or "walk": 0, or ERR_INVALID for anything else. */
int bitmap_strategy_parse(enum bitmap_strategy *out, const char *name);

#endif
