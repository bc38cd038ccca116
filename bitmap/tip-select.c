/* SPDX-License-Identifier: MIT */
/*
 * Selects commits that get bitmaps: commits near those tips whose requests
 * would otherwise walk many commits.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "bitmap/tip-select.h"

/*
 * Maximum number of rounds. In each round, one commit may get a bitmap for a
 * far tip (a tip whose request walks too many commits). The commit is the tip
 * itself, or an ancestor near the tip. Let D be the maximum number of commits
 * that a request for the tip should walk. Then the ancestor is at most D / 2
 * first-parent steps from the tip in the first round, D / 4 in the second
 * round, and 0 in the last one: only the tip itself gets a bitmap.
 */
#define ROUNDS 3

/* A commit that is to be selected in this round. */
struct pick {
	uint32_t commit_nr;
	/* commit_nr of the last tip for which this commit was picked */
	uint32_t tip;
	/*
	 * number of tips for which the commit was picked: with a bitmap of the
	 * commit, a request for such a tip walks fewer commits
	 */
	uint32_t tips_nr;
	/*
	 * Estimate of how many commits need not be walked if this commit gets a
	 * bitmap. The estimate supposes that each of the `tips_nr` tips is
	 * requested once, each by a request for this one tip only. `saved` is
	 * the sum, over these requests, of the commits that need not be walked.
	 */
	uint64_t saved;
};

struct tip_selecting {
	const struct tip_select_input *in;
	uint8_t *has_bitmap; /* borrowed */
	struct tip_walk walk;
	/*
	 * owned array, indexed by commit_nr: number of commits on the longest
	 * path to a root. A tip reaches at least this many commits.
	 */
	uint32_t *depth;
	/*
	 * owned: `tips` has the far tips (see bitmap/tip-select.h): tips whose
	 * requests walk too many commits; walked[i] is the number of commits
	 * that a request for tips[i] walks
	 */
	uint32_t *tips, *walked;
	size_t tip_nr;
	/* owned: scratch memory for sorting `tips` */
	struct sort_item *by_limit;
	/*
	 * owned array, indexed by commit_nr: 1 + the index of the commit in
	 * `picks`; 0: the commit is not picked
	 */
	uint32_t *pick_of;
	struct pick *picks; /* owned */
	size_t pick_nr;
	/*
	 * Number of rounds of the selection that have begun. With each round,
	 * commits that get bitmaps must be nearer to the tips, see ROUNDS. A
	 * bitmap of an older commit can serve several tips, but a request for a
	 * tip must walk from the tip to this commit.
	 */
	int halvings;
	/* number of commits that may still get a bitmap */
	size_t left;
};

static uint32_t allowed(const struct tip_selecting *s, uint32_t tip)
{
	return s->depth[tip] / TIP_SELECT_PART;
}

/*
 * In each round, one commit may get a bitmap for a tip: the tip itself, or one
 * of its ancestors. Returns the maximum distance of this commit from the tip,
 * as a number of first-parent steps. The distance becomes smaller with each
 * round (ROUNDS), and is 0 in the last one.
 */
static uint32_t distance(const struct tip_selecting *s, uint32_t tip)
{
	return s->halvings == ROUNDS ? 0 : allowed(s, tip) >> s->halvings;
}

static bool is_wanted(const struct tip_selecting *s, uint32_t c)
{
	uint8_t tip = s->in->is_tip[c];

	return tip >= s->in->first && tip <= s->in->last && !s->has_bitmap[c];
}

static int alloc_tips(struct tip_selecting *s)
{
	size_t nr = s->tip_nr;

	s->tips = mem_alloc(nr, sizeof(*s->tips));
	s->walked = mem_alloc(nr, sizeof(*s->walked));
	s->by_limit = mem_alloc(nr, sizeof(*s->by_limit));
	s->picks = mem_alloc(nr, sizeof(*s->picks));
	s->pick_of = mem_calloc(s->in->history->nr, sizeof(*s->pick_of));
	return s->tips && s->walked && s->by_limit && s->picks && s->pick_of
		       ? 0
		       : ERR_NOMEM;
}

/*
 * Lists the tips by date. Tips of nearly the same date usually reach the same
 * commits. tip_walk_count() handles neighbours of the list in one pass, so it
 * visits each common commit only once. Returns 0 or ERR_NOMEM.
 */
static int list_tips(struct tip_selecting *s)
{
	const struct tip_select_input *in = s->in;
	size_t nr = 0;

	for (size_t i = 0; i < in->commit_nr; i++)
		s->tip_nr += is_wanted(s, in->commits[i]);
	if (alloc_tips(s) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < in->commit_nr; i++) {
		uint32_t c = in->commits[i];

		if (is_wanted(s, c))
			s->by_limit[nr++] = (struct sort_item){
				in->history->commits[c].date, c};
	}
	if (sort_items(s->by_limit, nr) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < nr; i++)
		s->tips[i] = s->by_limit[i].value;
	return 0;
}

static int measure_depths(struct tip_selecting *s)
{
	const struct history *h = s->in->history;

	s->depth = mem_calloc(h->nr, sizeof(*s->depth));
	for (size_t i = 0; s->depth && i < s->in->commit_nr; i++) {
		uint32_t c = s->in->commits[i], depth = 0;

		for (uint32_t k = 0; k < h->commits[c].parent_nr; k++)
			if (s->depth[history_parents(h, c)[k]] > depth)
				depth = s->depth[history_parents(h, c)[k]];
		s->depth[c] = depth + 1;
	}
	return s->depth ? 0 : ERR_NOMEM;
}

/* Removes the tips whose requests walk at most allowed() commits. */
static void keep_far(struct tip_selecting *s)
{
	size_t kept = 0;

	tip_walk_count(&s->walk, s->walked, s->tips, s->tip_nr);
	for (size_t i = 0; i < s->tip_nr; i++) {
		if (s->walked[i] <= allowed(s, s->tips[i]))
			continue;
		s->walked[kept] = s->walked[i];
		s->tips[kept++] = s->tips[i];
	}
	s->tip_nr = kept;
}

/*
 * Sets *c to the first parent of commit *c. Returns false if there is none, or
 * if the parent has a bitmap.
 */
static bool step_back(const struct tip_selecting *s, uint32_t *c)
{
	const struct history *h = s->in->history;

	if (!h->commits[*c].parent_nr ||
	    s->has_bitmap[history_parents(h, *c)[0]])
		return false;
	*c = history_parents(h, *c)[0];
	return true;
}

static uint32_t find_limit(const struct tip_selecting *s, uint32_t tip)
{
	uint32_t c = tip;

	for (uint32_t left = distance(s, tip); left; left--)
		if (!step_back(s, &c))
			break;
	return c;
}

/*
 * Sorts the far tips (tips whose requests walk too many commits). For each tip,
 * find_limit() finds the oldest commit that may get a bitmap because of this
 * tip. The tips are sorted by the distance of this commit from a root, the
 * largest distance first. Returns 0 or ERR_NOMEM.
 */
static int sort_tips(struct tip_selecting *s)
{
	for (size_t i = 0; i < s->tip_nr; i++) {
		uint32_t limit = find_limit(s, s->tips[i]);

		s->by_limit[i] = (struct sort_item){
			UINT32_MAX - s->depth[limit],
			(uint32_t)i,
		};
	}
	return sort_items(s->by_limit, s->tip_nr);
}

/*
 * Picks a commit whose bitmap shortens the walk of a request for `tip`. Goes
 * back from the tip, at most to the limit: the oldest commit that may be given
 * a bitmap for this tip. Takes the first commit on this way that was already
 * picked for another tip. If there is none, picks the limit.
 */
static void pick_for(struct tip_selecting *s, uint32_t tip, uint32_t walked)
{
	uint32_t c = tip, far = distance(s, tip), steps = 0;
	struct pick *pick;

	while (!s->pick_of[c] && steps < far && step_back(s, &c))
		steps++;
	if (!s->pick_of[c]) {
		s->picks[s->pick_nr++] = (struct pick){.commit_nr = c};
		s->pick_of[c] = (uint32_t)s->pick_nr;
	}
	pick = &s->picks[s->pick_of[c] - 1];
	pick->tip = tip;
	pick->tips_nr++;
	pick->saved += walked > steps ? walked - steps : 0;
}

static int compare_picks(const void *a, const void *b)
{
	const struct pick *x = a, *y = b;

	if (x->saved != y->saved)
		return x->saved > y->saved ? -1 : 1;
	return x->commit_nr < y->commit_nr ? -1 : x->commit_nr > y->commit_nr;
}

/*
 * s->picks has the candidates. Selects those candidates whose bitmaps shorten
 * the walks of requests most, up to the number s->left. If a candidate serves
 * only one tip, the tip itself is selected instead.
 */
static void take_picks(struct tip_selecting *s)
{
	size_t nr = s->pick_nr < s->left ? s->pick_nr : s->left;

	for (size_t i = 0; i < s->pick_nr; i++)
		s->pick_of[s->picks[i].commit_nr] = 0;
	qsort(s->picks, s->pick_nr, sizeof(*s->picks), compare_picks);
	for (size_t i = 0; i < nr; i++) {
		const struct pick *pick = &s->picks[i];

		s->has_bitmap[pick->tips_nr == 1 ? pick->tip
						 : pick->commit_nr] = 1;
	}
	s->left -= nr;
}

/*
 * Returns 1 if the selection is complete, 0 if another round is needed, or
 * ERR_NOMEM.
 */
static int select_round(struct tip_selecting *s)
{
	keep_far(s);
	if (!s->tip_nr || !s->left)
		return 1;
	s->halvings++;
	s->pick_nr = 0;
	if (sort_tips(s) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < s->tip_nr; i++) {
		uint32_t k = s->by_limit[i].value;

		pick_for(s, s->tips[k], s->walked[k]);
	}
	take_picks(s);
	return 0;
}

static void selecting_release(struct tip_selecting *s)
{
	tip_walk_release(&s->walk);
	free(s->depth);
	free(s->tips);
	free(s->walked);
	free(s->by_limit);
	free(s->pick_of);
	free(s->picks);
}

int tip_select(uint8_t *has_bitmap, size_t *selected_nr,
	       const struct tip_select_input *in, struct error *err)
{
	struct tip_selecting s = {
		.in = in,
		.has_bitmap = has_bitmap,
		.left = in->most,
	};
	int ret = tip_walk_init(&s.walk, in->history, in->commits,
				in->commit_nr, has_bitmap);

	if (!ret)
		ret = measure_depths(&s);
	if (!ret)
		ret = list_tips(&s);
	while (!ret && s.halvings < ROUNDS)
		ret = select_round(&s);
	*selected_nr = in->most - s.left;
	selecting_release(&s);
	return ret < 0 ? error_nomem(err) : 0;
}
