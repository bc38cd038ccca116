/* SPDX-License-Identifier: MIT */
/* Chooses index or walk. */
#include <string.h>

#include "bitmap/strategy.h"
#include "walk/revwalk.h"

/*
 * Number of commits that are walked on both sides at first. Often this already
 * gives the cost of a walk.
 */
#define COMMITS_FIRST 64

/*
 * The same if no trees are wanted. Then a walk of few commits is the answer,
 * and a walk of more would cost as much as the index saves.
 */
#define COMMITS_FIRST_NO_TREES 8

/* Growth of both limits for the next try. */
#define COMMITS_GROWTH 2

/*
 * Parts of the commits needed for a better estimate that may be spent on
 * looking for bitmaps: in any case, and if bitmaps are likely to be near.
 */
#define LOOK_RATIO_LEAST 4
#define LOOK_RATIO_MOST 2

/*
 * Commits on the way to a bitmap that cost as much as a tree difference. If a
 * bitmap of a wanted commit is used, their trees are read as far as needed.
 * Otherwise a commit costs only its decoding. The second number is half of what
 * that would allow, since less is then known about usable delta bases.
 */
#define HAVES_PER_COST 8
#define HAVES_PER_COST_UNDOUBTED 32

/*
 * One more cost unit of a walk for this many wanted commits: a walk knows less
 * about the haves, and computes deltas that could be copied.
 */
#define COMMITS_PER_DELTA_COST 4

/*
 * Cost of reading the trees of the boundary's commits as far as they matter: a
 * fixed part, and a part for each commit.
 */
#define BOUNDARY_COST 1
#define BOUNDARY_COST_EACH 1

/*
 * Number of commits that may be walked in vain per cost unit: about a fifteenth
 * of the total cost. REQUEST_COST is the cost of any request in tree
 * differences.
 */
#define REQUEST_COST 4
#define COMMITS_IN_VAIN_PER_COST 3

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
		.no_trees = plan->no_trees,
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

/* The state of a choice. */
struct planning {
	struct bitmap_plan *plan;
	struct bitmap_side *side;
	struct walk *w;
	const struct revwalk_tips *tips;
	/* wanted commits seen, if not all are known */
	size_t seen;
	/* commits of the haves' side per cost unit */
	size_t per_cost;
	/* estimated distance from the haves' side to the index */
	size_t distance;
	struct error *err;
};

/*
 * Counts the commits that are in no bitmap of another one; `wanted` is newest
 * first. Both ways compare the trees of these commits. Returns 0 or ERR_NOMEM.
 */
static int count_beyond(uint32_t *nr, const struct planning *p,
			const struct revwalk_result *wanted)
{
	const struct history *h = &p->w->history;
	struct bitset had = BITSET_INIT;

	if (bitset_init(&had, h->nr) < 0)
		return ERR_NOMEM;
	*nr = 0;
	for (size_t i = 0; i < wanted->nr; i++) {
		uint32_t c = wanted->commits[i];

		if (!bitset_test(&had, c) &&
		    !bitmap_side_has_bitmap(p->side, c)) {
			++*nr;
			continue;
		}
		for (uint32_t k = 0; k < h->commits[c].parent_nr; k++)
			bitset_set(&had, history_parents(h, c)[k]);
	}
	bitset_release(&had);
	return 0;
}

/* Estimates the cost of a walk whose commits are known. */
static int estimate_trees(struct planning *p, const struct revwalk_result *revs)
{
	struct bitmap_plan *plan = p->plan;

	plan->walk_cost = (uint64_t)revs->nr +
			  revs->nr / COMMITS_PER_DELTA_COST + BOUNDARY_COST +
			  BOUNDARY_COST_EACH * (uint64_t)revs->boundary_nr;
	if (count_beyond(&plan->want_beyond, p, revs) < 0)
		return error_nomem(p->err);
	if (plan->want_beyond == plan->want_commits)
		p->per_cost = HAVES_PER_COST_UNDOUBTED;
	return 0;
}

/*
 * Estimates the cost of a walk. Returns 0, 1 if it takes more than `limit`
 * commits to know, or a negative error code.
 */
static int estimate_walk(struct planning *p, size_t limit)
{
	struct revwalk_result revs = REVWALK_RESULT_INIT;
	struct bitmap_plan *plan = p->plan;
	int ret = revwalk_within(&revs, &p->w->history, p->tips, limit, p->err);

	if (!ret) {
		plan->want_commits = (uint32_t)revs.nr;
		plan->boundary = (uint32_t)revs.boundary_nr;
		if (plan->no_trees)
			plan->walk_cost = revs.nr / HAVES_PER_COST_UNDOUBTED;
		else
			ret = estimate_trees(p, &revs);
	}
	p->seen = revs.nr;
	revwalk_result_release(&revs);
	return ret;
}

static size_t walked_nr(const struct planning *p)
{
	size_t nr;

	bitmap_side_walked(p->side, &nr);
	return nr;
}

/*
 * Returns whether bitmaps are likely to be reached before `limit` commits are
 * walked.
 */
static bool is_near(struct planning *p, size_t limit)
{
	uint32_t next;

	p->distance = bitmap_side_next(p->side, &next)
			      ? bitmap_side_distance(p->side, next, limit + 1)
			      : 0;
	return walked_nr(p) + p->distance <= limit;
}

/*
 * The cost of a walk is known, and the part that the index saves. Looks for
 * bitmaps until that would cost more than it saves. A part of that, little
 * compared to the walk, is spent in any case; more only while it is likely to
 * succeed.
 */
static int go_on(struct planning *p)
{
	uint64_t walk_cost = p->plan->walk_cost;
	uint64_t saved = walk_cost - p->plan->want_beyond;
	size_t most = saved * p->per_cost, limit = most;
	int ret;

	if (limit > (REQUEST_COST + walk_cost) * COMMITS_IN_VAIN_PER_COST)
		limit = (REQUEST_COST + walk_cost) * COMMITS_IN_VAIN_PER_COST;
	ret = bitmap_side_walk(p->side, limit, p->err);
	while (ret > 0 && limit < most && is_near(p, most)) {
		limit = limit < most / 2 ? 2 * limit : most;
		ret = bitmap_side_walk(p->side, limit, p->err);
	}
	p->plan->reason = ret ? "few commits are wanted, and bitmaps are far"
			      : "looking for bitmaps costs less than walking";
	return ret;
}

/* The walk that measured the cost was the whole walk. */
static int walk_is_done(struct planning *p)
{
	p->plan->reason = "few commits are wanted, and no trees";
	return 1;
}

/*
 * The cost of a walk is unknown, and `limit` commits must be walked to know
 * more. A part of that is spent on looking for bitmaps. If bitmaps are likely
 * to be near, a larger part is spent, plus a part for each wanted commit seen
 * so far.
 */
static int look(struct planning *p, size_t limit)
{
	size_t least = limit / LOOK_RATIO_LEAST;
	size_t most = limit / LOOK_RATIO_MOST + p->seen * HAVES_PER_COST;
	int ret;

	if (least < COMMITS_FIRST)
		least = COMMITS_FIRST;
	ret = bitmap_side_walk(p->side, least, p->err);
	if (ret > 0 && is_near(p, most))
		ret = bitmap_side_walk(p->side, most, p->err);
	p->plan->reason = walked_nr(p) > COMMITS_FIRST
				  ? "many commits are wanted"
				  : "bitmaps are near the haves";
	return ret;
}

static int choose(struct planning *p)
{
	size_t limit = p->plan->no_trees ? COMMITS_FIRST_NO_TREES
					 : COMMITS_FIRST;
	int ret;

	do {
		ret = estimate_walk(p, limit);
		if (!ret)
			return p->plan->no_trees ? walk_is_done(p) : go_on(p);
		limit *= COMMITS_GROWTH;
		if (ret > 0)
			ret = look(p, limit);
	} while (ret > 0);
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
	size_t nr = walked_nr(&p);

	plan->have_commits = (uint32_t)nr;
	plan->bitmap_cost = plan->want_beyond +
			    (nr + (ret ? p.distance : 0)) / p.per_cost;
	return ret;
}
