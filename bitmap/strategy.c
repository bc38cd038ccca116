/* SPDX-License-Identifier: MIT */
/* Chooses between the bitmap index and a walk. */
#include <string.h>

#include "bitmap/strategy.h"
#include "walk/revwalk.h"

/*
 * Number of commits that the first step walks for the wants, and again for the
 * haves. After the first step, the cost of a walk is often known.
 */
#define COMMITS_FIRST 64

/*
 * Number of commits that the first step walks, instead of COMMITS_FIRST, if the
 * request needs no trees. If the walk ends within this number, it has found the
 * whole answer, and the index is not used. A larger number would cost as much
 * time as the index saves.
 */
#define COMMITS_FIRST_NO_TREES 8

/*
 * Each further step walks this many times as many commits as the step before,
 * for the wants and for the haves.
 */
#define COMMITS_GROWTH 2

/*
 * While the cost of a walk is unknown, the search for bitmaps walks only a
 * limited number of commits from the haves. The limit is a part of the number
 * of commits that the next step walks for the wants. Normally it is this number
 * divided by LOOK_RATIO_LEAST, which gives the smaller limit ("least"). If
 * bitmaps are probably near, it is this number divided by LOOK_RATIO_MOST,
 * which gives the larger limit ("most").
 */
#define LOOK_RATIO_LEAST 4
#define LOOK_RATIO_MOST 2

/*
 * This number of commits, walked from the haves back to bitmaps, costs as much
 * as one tree diff: comparing the trees of one commit with those of its
 * parents. There are two cases:
 * - HAVES_PER_COST: a bitmap of a wanted commit is used. Trees of the walked
 *   commits are then read too, so each of them costs more.
 * - HAVES_PER_COST_DECIDED: it is already decided that no bitmap of a wanted
 *   commit is used. The walked commits are only decoded. In the time of a tree
 *   diff, 64 commits can be decoded. But their trees are not read, so fewer
 *   delta bases are known, and making deltas takes more time later. To account
 *   for this time, each commit is counted twice: the number is 32, not 64.
 */
#define HAVES_PER_COST 8
#define HAVES_PER_COST_DECIDED 32

/*
 * The estimated cost of a walk has a surcharge. The unit of costs is the cost
 * of one tree diff, and the surcharge is 1 for every COMMITS_PER_DELTA_COST
 * wanted commits. No tree diff is made for the surcharge. It stands for the
 * cost of deltas: a walk finds fewer of the client's objects than a query of
 * the index finds. A stored delta cannot be copied if its base is not known to
 * be at the client. So after a walk, fewer stored deltas can be copied, and
 * more deltas must be computed.
 */
#define COMMITS_PER_DELTA_COST 4

/*
 * Cost of reading trees of boundary commits, in tree diffs: BOUNDARY_COST, plus
 * BOUNDARY_COST_EACH for each boundary commit. The cost is small, because most
 * trees are not read. A tree is read only if it may contain wanted objects that
 * were not found in the haves yet.
 */
#define BOUNDARY_COST 1
#define BOUNDARY_COST_EACH 1

/*
 * Limit of the search for bitmaps: the walk from the haves back to commits with
 * bitmaps. The limit is used once the cost of answering the request by a walk,
 * without the index, is known. The search may then visit
 *
 *	COMMITS_IN_VAIN_PER_COST * (REQUEST_COST + cost of that walk)
 *
 * commits. The unit of cost is a tree diff: the time to compare the trees of
 * one commit with those of its parents. The search goes beyond the limit only
 * if bitmaps are probably near.
 *
 * If the search reaches no bitmap, a walk answers the request, and the search
 * was in vain. Within the limit, a search in vain adds about a fifteenth to the
 * cost of the request.
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

/* The state of choosing between the bitmap index and a walk. */
struct planning {
	struct bitmap_plan *plan;
	struct bitmap_side *side;
	struct walk *w;
	const struct revwalk_tips *tips;
	/*
	 * number of wanted commits that the last call of estimate_walk() has
	 * walked
	 */
	size_t seen;
	/*
	 * number of commits of the haves that can be walked in the time of one
	 * tree diff
	 */
	size_t per_cost;
	/*
	 * estimated number of commits to walk from the haves back to commits
	 * with bitmaps
	 */
	size_t distance;
	struct error *err;
};

/*
 * Counts the commits of `wanted` that no bitmap contains. A commit is contained
 * in its own bitmap, if it has one, and in the bitmap of a descendant. Only
 * descendants in `wanted` are looked at. They come before the commit, because
 * `wanted` lists newer commits first. For each counted commit, the bitmap index
 * saves no work: a query must compare the commit's tree with the trees of its
 * parents, just like a walk without the index. Returns 0 or ERR_NOMEM.
 */
static int count_beyond(uint32_t *nr, const struct planning *p,
			const struct revwalk_result *wanted)
{
	const struct history *h = &p->w->history;
	struct bitset covered = BITSET_INIT;

	if (bitset_init(&covered, h->nr) < 0)
		return ERR_NOMEM;
	*nr = 0;
	for (size_t i = 0; i < wanted->nr; i++) {
		uint32_t c = wanted->commits[i];

		if (!bitset_test(&covered, c) &&
		    !bitmap_side_has_bitmap(p->side, c)) {
			++*nr;
			continue;
		}
		for (uint32_t k = 0; k < h->commits[c].parent_nr; k++)
			bitset_set(&covered, history_parents(h, c)[k]);
	}
	bitset_release(&covered);
	return 0;
}

/*
 * Estimates the cost of answering with a walk. `revs` has the commits whose
 * trees the walk must compare with those of their parents. Returns 0 or
 * ERR_NOMEM.
 */
static int estimate_trees(struct planning *p, const struct revwalk_result *revs)
{
	struct bitmap_plan *plan = p->plan;

	plan->walk_cost = (uint64_t)revs->nr +
			  revs->nr / COMMITS_PER_DELTA_COST + BOUNDARY_COST +
			  BOUNDARY_COST_EACH * (uint64_t)revs->boundary_nr;
	if (count_beyond(&plan->want_beyond, p, revs) < 0)
		return error_nomem(p->err);
	if (plan->want_beyond == plan->want_commits)
		p->per_cost = HAVES_PER_COST_DECIDED;
	return 0;
}

/*
 * Estimates the cost of a walk. Returns 0 if the cost is known, 1 if more than
 * `limit` commits must be walked to know it, or a negative error code.
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
			plan->walk_cost = revs.nr / HAVES_PER_COST_DECIDED;
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
 * Returns whether the walk from the haves probably reaches bitmaps before
 * `limit` commits are walked.
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
 * Continues the search for bitmaps after the cost of a walk has become known.
 * The search may always cost a small part of what the walk costs. It may cost
 * more if bitmaps are probably near, but not more than the index can save.
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

/*
 * Decides that a walk answers the request, because measuring the cost of the
 * walk has already found all commits of the answer. Returns 1.
 */
static int walk_is_done(struct planning *p)
{
	p->plan->reason = "few commits are wanted, and no trees";
	return 1;
}

/*
 * Walks from the haves to look for bitmaps, while the cost of answering by a
 * walk is unknown. `limit` is the number of commits that the next step walks
 * for the wants. First, the walk from the haves visits up to limit /
 * LOOK_RATIO_LEAST commits, or up to COMMITS_FIRST commits if this is more.
 *
 * If bitmaps are not reached, but is_near() says that a longer walk probably
 * reaches them, the search goes on. It then walks up to limit / LOOK_RATIO_MOST
 * commits, plus HAVES_PER_COST commits for each wanted commit that was found so
 * far. The reason for the second summand: if the search reaches bitmaps, the
 * bitmap index answers the request. Otherwise a walk answers it, and compares
 * the trees of each wanted commit with those of the parents (a tree diff).
 * Walking HAVES_PER_COST commits from the haves costs as much as one tree diff.
 * So the search may cost as much as the tree diffs that it may save.
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
