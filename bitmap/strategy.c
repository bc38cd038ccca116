/* SPDX-License-Identifier: MIT */
/* Index or walk. */
#include <string.h>

#include "bitmap/strategy.h"
#include "walk/revwalk.h"

/* Commits from haves to bitmaps that are walked without a second thought. */
#define HAVES_FIRST 64

/* By so much more is tried at a time, of both sides. */
#define HAVES_GROWTH 4

/* Commits that the other way may walk meanwhile, for each of these: they are
 * only decoded. */
#define COMMITS_PER_HAVE 4

/*
 * A commit on the way to a bitmap costs half a tree difference: only its own
 * trees are read, and only as far as there is doubt.
 */
#define HAVES_PER_COST 2

/* Reading all trees of one commit, and of a few that are much alike. */
#define BOUNDARY_COST 8

int bitmap_strategy_parse(enum bitmap_strategy *out, const char *name)
{
	static const char *const names[] = {
		[BITMAP_STRATEGY_AUTO] = "auto",
		[BITMAP_STRATEGY_INDEX] = "bitmap",
		[BITMAP_STRATEGY_WALK] = "walk",
	};

	for (int i = 0; i < (int)(sizeof(names) / sizeof(*names)); i++)
		if (!strcmp(name, names[i])) {
			*out = (enum bitmap_strategy)i;
			return 0;
		}
	return ERR_INVALID;
}

bool bitmap_plan_start(struct bitmap_plan *plan, bool has_haves)
{
	*plan = (struct bitmap_plan){
		.strategy = plan->strategy,
		.want_commits = UINT32_MAX,
		.boundary = UINT32_MAX,
		.walk_cost = UINT64_MAX,
	};
	if (plan->strategy != BITMAP_STRATEGY_AUTO)
		plan->reason = "gitreach.bitmapStrategy says so";
	else if (has_haves)
		plan->reason = "the answer has to be exact";
	else
		plan->reason = "there are no haves";
	return plan->strategy == BITMAP_STRATEGY_WALK;
}

/* What walking would cost, if that can be told from `limit` commits: else 1. */
static int estimate_walk(struct bitmap_plan *plan, struct walk *w,
			 const struct walk_tips *wants,
			 const struct walk_tips *haves, size_t limit,
			 struct error *err)
{
	const struct revwalk_tips tips = {
		wants->commits,
		wants->commit_nr,
		haves->commits,
		haves->commit_nr,
	};
	struct revwalk_result revs = REVWALK_RESULT_INIT;
	int ret = revwalk_within(&revs, &w->history, &tips, limit, err);

	if (!ret) {
		plan->want_commits = (uint32_t)revs.nr;
		plan->boundary = (uint32_t)revs.boundary_nr;
		plan->walk_cost = (uint64_t)revs.nr + revs.boundary_nr +
				  BOUNDARY_COST;
	}
	revwalk_result_release(&revs);
	return ret;
}

static void note_haves(struct bitmap_plan *plan, const struct bitmap_side *side)
{
	size_t nr;

	bitmap_side_walked(side, &nr);
	plan->have_commits = (uint32_t)nr;
	plan->bitmap_cost = nr / HAVES_PER_COST;
}

/* The walk's cost is known: go on to where the index would cost more. */
static int go_on(struct bitmap_plan *plan, struct bitmap_side *side,
		 struct error *err)
{
	int ret = bitmap_side_walk(side, plan->walk_cost * HAVES_PER_COST, err);

	note_haves(plan, side);
	plan->reason = ret ? "fewer commits are wanted than lie between haves "
			     "and bitmaps"
			   : "more commits are wanted than lie between haves "
			     "and bitmaps";
	return ret;
}

int bitmap_plan_haves(struct bitmap_plan *plan, struct bitmap_side *side,
		      struct walk *w, const struct walk_tips *wants,
		      const struct walk_tips *haves, struct error *err)
{
	size_t limit = HAVES_FIRST;
	int ret = bitmap_side_walk(side, limit, err);

	plan->reason = "bitmaps are near the haves";
	while (ret > 0 && plan->walk_cost == UINT64_MAX) {
		ret = estimate_walk(plan, w, wants, haves,
				    limit * COMMITS_PER_HAVE, err);
		if (!ret)
			return go_on(plan, side, err);
		limit *= HAVES_GROWTH;
		if (ret > 0)
			ret = bitmap_side_walk(side, limit, err);
		plan->reason = "many commits are wanted";
	}
	note_haves(plan, side);
	return ret;
}
