/* SPDX-License-Identifier: MIT */
/*
 * Chooses the content of an index made from scratch, within a budget of words.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bitmap/choose.h"
#include "bitmap/select.h"

/*
 * Number of words that an entry takes in the file besides its bitmap, including
 * its row in the lookup table.
 */
#define ENTRY_WORDS 4

struct choosing {
	const struct bitmap_choose_input *in;
	size_t budget; /* words */
	/* limit of the selected tips of SELECT_DEFAULT_TIP */
	size_t default_tip_nr;
	/* limit of the pseudo-merges of each default class; 0: none */
	size_t merge_nr;
	const struct progress_out *progress;
	struct error *err;
};

/* The size in words of the bitmaps of one selection. */
struct cost {
	size_t words; /* total */
	/* the part of `words` that default pseudo-merges take */
	size_t pseudo_words;
};

/*
 * Returns whether there are default pseudo-merges. The size of default
 * pseudo-merges is limited; the size of configured ones is not.
 */
static bool has_default_groups(const struct choosing *s)
{
	return s->in->pseudo && !s->in->pseudo->rules;
}

/*
 * Returns the number of words of a pseudo-merge, with 12 bytes of lookup for
 * each commit.
 */
static size_t group_words(const struct bitmap_built_group *group)
{
	struct ewah_view commits = ewah_view_of(&group->commits);

	return group->commits.word_nr + group->objects.word_nr +
	       ewah_count(&commits) * 3 / 2;
}

static struct cost cost_of(const struct choosing *s,
			   const struct bitmap_build_result *built)
{
	struct cost cost = {0};

	for (size_t i = 0; has_default_groups(s) && i < built->group_nr; i++)
		cost.pseudo_words += group_words(&built->groups[i]);
	cost.words = cost.pseudo_words;
	for (size_t i = 0; i < built->entry_nr; i++)
		cost.words += built->entries[i].bitmap.word_nr + ENTRY_WORDS;
	return cost;
}

static int choose_groups(const struct choosing *s, struct pseudo_groups *groups,
			 const uint32_t *selected, size_t nr)
{
	const struct bitmap_build_input *build = &s->in->build;
	uint8_t *has_bitmap = mem_calloc(build->history->nr, 1);
	const struct pseudo_select_input input = {
		.history = build->history,
		.commits = build->commits,
		.commit_nr = build->commit_nr,
		.has_bitmap = has_bitmap,
		.tips = s->in->pseudo,
		.object_nr = s->in->object_nr,
		.default_merge_nr = s->merge_nr,
	};
	int ret;

	if (!has_bitmap)
		return error_nomem(s->err);
	for (size_t i = 0; i < nr; i++)
		has_bitmap[selected[i]] = 1;
	ret = pseudo_select(groups, &input, s->err);
	free(has_bitmap);
	return ret;
}

/*
 * Builds the bitmaps of a selection with the given density. The caller releases
 * *out in any case.
 */
static int build(const struct choosing *s, struct bitmap_build_result *out,
		 size_t dense_nr)
{
	const struct bitmap_select_input select = {
		.history = s->in->build.history,
		.commits = s->in->newest_first,
		.parents_first = s->in->build.commits,
		.nr = s->in->build.commit_nr,
		.dense_nr = dense_nr,
		.is_tip = s->in->is_tip,
		.default_tip_nr = s->default_tip_nr,
	};
	struct bitmap_build_input input = s->in->build;
	struct pseudo_groups groups = PSEUDO_GROUPS_INIT;
	uint32_t *selected = NULL;
	int ret = bitmap_select(&selected, &input.selected_nr, &select, s->err);

	if (!ret && s->in->pseudo && s->merge_nr)
		ret = choose_groups(s, &groups, selected, input.selected_nr);
	input.selected = selected;
	input.groups = groups.groups;
	input.group_nr = groups.nr;
	input.progress = s->progress;
	if (!ret)
		ret = bitmap_build(out, &input, s->err);
	pseudo_groups_release(&groups);
	free(selected);
	return ret;
}

/*
 * Builds the bitmaps of a plain selection (bitmap/select.h), which has fixed
 * gaps like an index of stock Git. Computes s->budget from the size of these
 * bitmaps, and s->default_tip_nr from their number.
 */
static int build_plain(struct choosing *s)
{
	struct bitmap_build_result plain = {0};
	int ret = build(s, &plain, SELECT_PLAIN);

	if (!ret && plain.entry_nr == s->in->build.commit_nr) {
		/*
		 * The history is short, so the plain selection has all commits.
		 */
		s->budget = cost_of(s, &plain).words;
		s->default_tip_nr = plain.entry_nr;
	} else if (!ret) {
		s->budget = cost_of(s, &plain).words / 16 *
			    CHOOSE_BUDGET_SIXTEENTHS;
		s->default_tip_nr = plain.entry_nr / CHOOSE_TIPS_PART;
	}
	bitmap_build_result_release(&plain);
	return ret;
}

/*
 * Returns the first density to try: with this density, a selection has as many
 * bitmaps as the plain selection.
 */
static size_t first_guess(const struct choosing *s, size_t most)
{
	size_t nr = s->in->build.commit_nr, dense_nr = most;

	while (dense_nr > 1 && bitmap_select_nr(nr, dense_nr) >
				       bitmap_select_nr(nr, SELECT_PLAIN))
		dense_nr--;
	return dense_nr;
}

/*
 * Computes the next density to try from the cost of the last one. The number of
 * words grows with the number of bitmaps, by a power below 1.
 */
static size_t next_guess(const struct choosing *s, size_t dense_nr,
			 const struct cost *cost)
{
	double room = (double)(s->budget - cost->pseudo_words);
	double ratio = room / (double)(cost->words - cost->pseudo_words);
	size_t guess = (size_t)((double)dense_nr * ratio *
				(ratio < 1 ? ratio : 1));

	if (ratio < 1 && guess > dense_nr - dense_nr / 4)
		guess = dense_nr - dense_nr / 4;
	return guess;
}

/*
 * Reduces the limit of default pseudo-merges if they take more than their part
 * of the budget.
 */
static bool limit_groups(struct choosing *s, const struct cost *cost,
			 size_t group_nr)
{
	size_t room = s->budget / CHOOSE_PSEUDO_PART;
	size_t nr;

	if (cost->pseudo_words <= room)
		return false;
	nr = group_nr * room / cost->pseudo_words;
	s->merge_nr = nr < s->merge_nr ? nr : s->merge_nr - 1;
	return true;
}

/* The range of densities that may still be tried. */
struct range {
	/* the highest density that fits the budget; 0: none so far */
	size_t fits;
	/* the highest density that may fit and is wanted */
	size_t most;
};

/*
 * Keeps the result in *best if it is the densest selection so far that fits the
 * budget. Returns the density to try next.
 */
static size_t judge(struct choosing *s, struct range *range, size_t dense_nr,
		    struct bitmap_build_result *best,
		    struct bitmap_build_result *built)
{
	struct cost cost = cost_of(s, built);
	size_t next;

	if (limit_groups(s, &cost, built->group_nr))
		return dense_nr;
	if (cost.words > s->budget) {
		range->most = dense_nr - 1;
	} else {
		range->fits = dense_nr;
		if (cost.words >= s->budget - s->budget / CHOOSE_LEFT_PART)
			range->most = dense_nr;
		bitmap_build_result_release(best);
		*best = *built;
		*built = (struct bitmap_build_result){0};
	}
	/*
	 * If the selection was not built, both ends of the range are equal. So
	 * next_guess() never divides by a cost of 0.
	 */
	if (range->fits == range->most)
		return dense_nr;
	next = next_guess(s, dense_nr, &cost);
	if (next > range->most)
		next = range->most;
	return next > range->fits ? next : range->fits + 1;
}

/*
 * Tries densities, and keeps the densest selection that fits the budget.
 * Returns 0 if one fits, 1 if none fits, or a negative error code.
 */
static int try_densities(struct choosing *s, struct bitmap_build_result *best)
{
	struct range range = {
		.most = bitmap_select_dense_nr(s->in->object_nr),
	};
	size_t dense_nr = first_guess(s, range.most);
	int ret = 0;

	for (int i = 0; i < CHOOSE_TRIES && range.fits < range.most; i++) {
		struct bitmap_build_result built = {0};

		ret = build(s, &built, dense_nr);
		s->progress = NULL;
		if (!ret)
			dense_nr = judge(s, &range, dense_nr, best, &built);
		bitmap_build_result_release(&built);
		if (ret < 0)
			return ret;
	}
	return !range.fits;
}

int bitmap_choose(struct bitmap_build_result *out,
		  const struct bitmap_choose_input *input, struct error *err)
{
	struct choosing s = {.in = input, .err = err};
	int ret = build_plain(&s);

	s.progress = input->build.progress;
	s.merge_nr = PSEUDO_DEFAULT_MERGES;
	if (!ret)
		ret = try_densities(&s, out);
	if (ret <= 0)
		return ret;
	/*
	 * No selection whose gaps grow with distance fits the budget, so the
	 * plain selection is used.
	 */
	s.default_tip_nr = 0;
	s.merge_nr = has_default_groups(&s) ? 0 : s.merge_nr;
	return build(&s, out, SELECT_PLAIN);
}
