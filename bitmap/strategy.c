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
 * Commits on the way to a bitmap that cost a tree difference. Only their own
 * trees are read, and only as far as there is doubt. Where the wants' side
 * comes to no bitmap there is none, and a commit costs no more than its
 * decoding, or its look-up in a commit-graph.
 */
#define HAVES_PER_COST 8
#define HAVES_PER_COST_UNDOUBTED 72
#define HAVES_PER_COST_UNDOUBTED_GRAPH 96

/*
 * Reading all trees of the boundary's commits, which are much alike: so much,
 * and so much for each of them.
 */
#define BOUNDARY_COST 4
#define BOUNDARY_COST_EACH 2

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

/* Of commits of the haves' side for a tree difference. */
static size_t haves_per_cost(const struct bitmap_side *side,
			     const struct walk *w,
			     const struct revwalk_result *wanted)
{
	for (size_t i = 0; i < wanted->nr; i++)
		if (bitmap_side_has_bitmap(side, wanted->commits[i]))
			return HAVES_PER_COST;
	return w->history.graph ? HAVES_PER_COST_UNDOUBTED_GRAPH
				: HAVES_PER_COST_UNDOUBTED;
}

/* One choice. */
struct planning {
	struct bitmap_plan *plan;
	struct bitmap_side *side;
	struct walk *w;
	const struct revwalk_tips *tips;
	size_t per_cost; /* commits of the haves' side for a cost of one */
	size_t distance; /* of the last one of these to the index, if it was
			    estimated */
	struct error *err;
};

/* What walking would cost, if that can be told from `limit` commits: else 1. */
static int estimate_walk(struct planning *p, size_t limit)
{
	struct revwalk_result revs = REVWALK_RESULT_INIT;
	int ret = revwalk_within(&revs, &p->w->history, p->tips, limit, p->err);

	if (!ret) {
		p->plan->want_commits = (uint32_t)revs.nr;
		p->plan->boundary = (uint32_t)revs.boundary_nr;
		p->plan->walk_cost = (uint64_t)revs.nr + BOUNDARY_COST +
				     BOUNDARY_COST_EACH *
					     (uint64_t)revs.boundary_nr;
		p->per_cost = haves_per_cost(p->side, p->w, &revs);
	}
	revwalk_result_release(&revs);
	return ret;
}

/* Whether bitmaps are likely to be met before so many commits are walked. */
static bool is_near(struct planning *p, size_t limit)
{
	size_t nr;
	const uint32_t *walked = bitmap_side_walked(p->side, &nr);

	p->distance = nr ? bitmap_side_distance(p->side, walked[nr - 1], limit)
			 : 0;
	return nr + p->distance <= limit;
}

/*
 * The walk's cost is known: go on to where the index would cost more, unless
 * that is likely to be in vain.
 */
static int go_on(struct planning *p)
{
	size_t limit = p->plan->walk_cost * p->per_cost;
	int ret = 1;

	if (is_near(p, limit))
		ret = bitmap_side_walk(p->side, limit, p->err);
	p->plan->reason = ret ? "few commits are wanted, and bitmaps are far"
			      : "looking for bitmaps costs less than walking";
	return ret;
}

static int choose(struct planning *p)
{
	size_t limit = HAVES_FIRST;
	int ret = bitmap_side_walk(p->side, limit, p->err);

	p->plan->reason = "bitmaps are near the haves";
	while (ret > 0) {
		ret = estimate_walk(p, limit * COMMITS_PER_HAVE);
		if (!ret)
			return go_on(p);
		limit *= HAVES_GROWTH;
		if (ret > 0 && is_near(p, limit))
			ret = bitmap_side_walk(p->side, limit, p->err);
		p->plan->reason = "many commits are wanted";
	}
	return ret;
}

int bitmap_plan_haves(struct bitmap_plan *plan, struct bitmap_side *side,
		      struct walk *w, const struct walk_tips *wants,
		      const struct walk_tips *haves, struct error *err)
{
	const struct revwalk_tips tips = {
		wants->commits,
		wants->commit_nr,
		haves->commits,
		haves->commit_nr,
	};
	struct planning p = {
		.plan = plan,
		.side = side,
		.w = w,
		.tips = &tips,
		.per_cost = HAVES_PER_COST,
		.err = err,
	};
	int ret = choose(&p);
	size_t nr;

	bitmap_side_walked(side, &nr);
	plan->have_commits = (uint32_t)nr;
	plan->bitmap_cost = (nr + (ret ? p.distance : 0)) / p.per_cost;
	return ret;
}
