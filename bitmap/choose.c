/* SPDX-License-Identifier: MIT */
/*
 * Chooses the bitmaps of an index made from scratch. A budget limits their size
 * in 64-bit words.
 */
#include <stdbool.h>

#include <stdlib.h>

#include "base/mem.h"
#include "bitmap/choose.h"
#include "bitmap/select.h"
#include "bitmap/tip-select.h"

/*
 * Number of words that an entry or a pseudo-merge takes in the file besides its
 * bitmaps. For an entry this includes its row in the lookup table, and for a
 * pseudo-merge its offset.
 */
#define ENTRY_WORDS 4
struct choosing {
	const struct bitmap_choose_input *in;
	/*
	 * maximum number of words of the bitmaps of commits that are spread
	 * over the history
	 */
	size_t spread_words;
	/* maximum number of words of all bitmaps of the index */
	size_t most_words;
	const struct progress_out *progress;
	struct error *err;
};

/*
 * Returns whether pseudo-merges are made by the default rules, and not by rules
 * of the configuration. Default pseudo-merges count against the budget, which
 * is the maximum size of all bitmaps of the index (s->most_words). Configured
 * pseudo-merges do not count.
 */
static bool has_default_groups(const struct choosing *s)
{
	return s->in->pseudo && !s->in->pseudo->rules;
}

/*
 * Returns the number of words that a pseudo-merge takes in the file. Each of
 * its commits takes 12 bytes in the lookup table of the pseudo-merges.
 */
static size_t group_words(const struct bitmap_built_group *group)
{
	struct ewah_view commits = ewah_view_of(&group->commits);

	return group->commits.word_nr + group->objects.word_nr + ENTRY_WORDS +
	       ewah_count(&commits) * 3 / 2;
}

/* Returns the number of words of all bitmaps to which the budget applies. */
static size_t words_of(const struct choosing *s,
		       const struct bitmap_build_result *built)
{
	size_t words = 0;

	for (size_t i = 0; has_default_groups(s) && i < built->group_nr; i++)
		words += group_words(&built->groups[i]);
	for (size_t i = 0; i < built->entry_nr; i++)
		words += built->entries[i].bitmap.word_nr + ENTRY_WORDS;
	return words;
}

/* ---- commits spread over the history */

/*
 * Builds the bitmaps of commits that are spread over the history with the
 * density `dense_nr` (see bitmap/select.h). Returns 0 or a negative error code.
 * The caller releases *out in any case.
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
	};
	struct bitmap_build_input input = s->in->build;
	uint32_t *selected = NULL;
	int ret = bitmap_select(&selected, &input.selected_nr, &select, s->err);

	input.selected = selected;
	input.progress = s->progress;
	if (!ret)
		ret = bitmap_build(out, &input, s->err);
	free(selected);
	return ret;
}

/*
 * Sets s->spread_words (limit for commits spread over the history) and
 * s->most_words (limit for all bitmaps of the index). `plain` has bitmaps of
 * commits at fixed distances, which were built only to measure their size.
 * spread_words is computed from this size, and so is most_words, unless the
 * caller gives a budget. In a short history, `plain` has a bitmap of each
 * commit. Then spread_words is the full size of these bitmaps, so that all
 * commits may get a bitmap.
 */
static void set_limits(struct choosing *s,
		       const struct bitmap_build_result *plain)
{
	const struct bitmap_choose_input *in = s->in;
	size_t words = words_of(s, plain);
	bool has_all = plain->entry_nr == in->build.commit_nr;

	s->spread_words = has_all ? words
				  : words / 16 * CHOOSE_BUDGET_SIXTEENTHS;
	s->most_words = in->budget_words
				? in->budget_words
				: words + in->object_nr /
						  CHOOSE_OBJECTS_PER_WORD;
	if (s->spread_words > s->most_words)
		s->spread_words = s->most_words;
}

/*
 * Builds the bitmaps of a plain selection, and computes from their size the
 * maximum size of the bitmaps of the index (set_limits()). The bitmaps of the
 * plain selection are only measured, not used. A plain selection
 * (bitmap/select.h) has fixed distances between the commits that get a bitmap,
 * about as in stock Git: for example, one of every SELECT_PLAIN_GAP commits
 * gets a bitmap.
 */
static int build_plain(struct choosing *s)
{
	struct bitmap_build_result plain = {0};
	int ret = build(s, &plain, SELECT_PLAIN);

	if (!ret)
		set_limits(s, &plain);
	bitmap_build_result_release(&plain);
	return ret;
}

/*
 * Returns the first density to try, which is not above `most`. A density
 * (dense_nr, see bitmap/select.h) says how many of the commits get a bitmap.
 * The result is the highest density that selects at most as many commits as the
 * plain selection, which has about the density of stock Git's bitmaps.
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
 * Returns the next density to try. A density (dense_nr, see bitmap/select.h)
 * says how many of the commits get a bitmap. `dense_nr` is the density of the
 * last trial, and `words` is the total size of its bitmaps in words. The
 * allowed size is s->spread_words. The ratio is the allowed size divided by the
 * size in the last trial. There are two cases:
 * - The bitmaps were not larger than allowed (the ratio is 1 or more). Returns
 *   `dense_nr` times the ratio.
 * - The bitmaps were too large (the ratio is less than 1). Returns `dense_nr`
 *   times the square of the ratio, but at most three quarters of `dense_nr`.
 */
static size_t next_guess(const struct choosing *s, size_t dense_nr,
			 size_t words)
{
	double ratio = (double)s->spread_words / (double)words;
	size_t guess = (size_t)((double)dense_nr * ratio *
				(ratio < 1 ? ratio : 1));

	if (ratio < 1 && guess > dense_nr - dense_nr / 4)
		guess = dense_nr - dense_nr / 4;
	return guess;
}

/*
 * The range of densities that may still be tried. A density is a value of
 * dense_nr (bitmap/select.h): the larger dense_nr is, the more commits get a
 * bitmap.
 */
struct range {
	/* the highest dense_nr that fits the budget; 0: none so far */
	size_t fits;
	/*
	 * The highest dense_nr that is worth trying. At first it is
	 * bitmap_select_dense_nr(): a larger dense_nr would be useless for an
	 * index with this number of objects. `most` becomes smaller when a
	 * larger dense_nr has turned out to exceed the budget, or when a
	 * smaller one nearly fills the budget.
	 */
	size_t most;
};

/*
 * Several densities are tried, to find the highest one that fits. The density
 * (dense_nr, see bitmap/select.h) says how many commits get a bitmap. *built
 * has the bitmaps of the density `dense_nr`. If they have at most
 * s->spread_words words, moves *built to *best. Removes from *range the
 * densities that need not be tried any more. Returns the density to try next,
 * or dense_nr if none is left.
 */
static size_t judge(struct choosing *s, struct range *range, size_t dense_nr,
		    struct bitmap_build_result *best,
		    struct bitmap_build_result *built)
{
	size_t words = words_of(s, built), most = s->spread_words, next;

	if (words > most) {
		range->most = dense_nr - 1;
	} else {
		range->fits = dense_nr;
		if (words >= most - most / CHOOSE_LEFT_PART)
			range->most = dense_nr;
		bitmap_build_result_release(best);
		*best = *built;
		*built = (struct bitmap_build_result){0};
	}
	/*
	 * If there are no commits, `words` is 0, and range->fits and
	 * range->most are equal. The function then returns here, so
	 * next_guess() never divides by 0.
	 */
	if (range->fits == range->most)
		return dense_nr;
	next = next_guess(s, dense_nr, words);
	if (next > range->most)
		next = range->most;
	return next > range->fits ? next : range->fits + 1;
}

/*
 * Builds the bitmaps of commits that are spread over the whole history. Tries
 * several densities (dense_nr, see bitmap/select.h): a density says how many
 * commits get a bitmap. Sets *best to the bitmaps of the highest density that
 * fits the budget. Returns 0 if one of the densities fits, 1 if none fits, or a
 * negative error code.
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

/*
 * Builds the bitmaps of commits that are spread over the history, with the
 * highest density that fits the budget. Returns 0 or a negative error code.
 */
static int build_spread(struct choosing *s, struct bitmap_build_result *out)
{
	int ret = build_plain(s);

	s->progress = s->in->build.progress;
	if (!ret)
		ret = try_densities(s, out);
	if (ret <= 0)
		return ret;
	/*
	 * Even the lowest density exceeds the budget. The reason: bitmaps of
	 * wanted tips are always made, and these bitmaps alone use up the
	 * budget. There are two cases:
	 * - The configuration sets the budget. Build the lowest density, to
	 *   exceed the budget as little as possible.
	 * - The configuration sets no budget, so the default budget was used.
	 *   Build the plain selection (bitmap/select.h), which has bitmaps at
	 *   fixed distances, as dense as those of stock Git.
	 */
	return build(s, out, s->in->budget_words ? 1 : SELECT_PLAIN);
}

/* ---- bitmaps near tips, and pseudo-merges */

/*
 * State of the second step. The first step, build_spread(), has made bitmaps of
 * commits that are spread over the history. The second step adds two things:
 * bitmaps of commits near tips, and pseudo-merges.
 */
struct extension {
	/* owned array, indexed by commit_nr: whether the commit has a bitmap */
	uint8_t *has_bitmap;
	/* estimated number of words that one added bitmap takes */
	size_t entry_words;
	/* number of words that may still be added */
	size_t room;
	/* number of added bitmaps of commits */
	size_t added_nr;
	struct pseudo_groups groups;
};

static void take_room(struct extension *x, size_t words)
{
	x->room -= words < x->room ? words : x->room;
}

/*
 * Adds bitmaps near the tips of the kinds `first` to `last`, while x->room has
 * words for them.
 */
static int add_tips(const struct choosing *s, struct extension *x,
		    enum select_tip first, enum select_tip last)
{
	const struct tip_select_input input = {
		.history = s->in->build.history,
		.commits = s->in->build.commits,
		.commit_nr = s->in->build.commit_nr,
		.is_tip = s->in->is_tip,
		.first = first,
		.last = last,
		.most = x->room / x->entry_words,
	};
	size_t nr;
	int ret = tip_select(x->has_bitmap, &nr, &input, s->err);

	if (ret < 0)
		return ret;
	x->added_nr += nr;
	take_room(x, nr * x->entry_words);
	return 0;
}

/*
 * Estimates how many words (of 8 bytes) pseudo-merges take in the index. These
 * pseudo-merges follow the default rules, because none are configured. A
 * pseudo-merge takes 20 bytes, which is 2.5 words, for each of its commits. It
 * also has a bitmap of its objects. This bitmap is assumed to take half the
 * size of an uncompressed bitmap.
 */
static size_t estimate_groups(const struct choosing *s,
			      const struct pseudo_groups *groups)
{
	size_t words = groups->nr * (s->in->build.bits / 128);

	for (size_t i = 0; i < groups->nr; i++)
		words += groups->groups[i].nr * 5 / 2;
	return words;
}

/*
 * Selects pseudo-merges. With the default rules, the numbers of tips and of
 * pseudo-merges are reduced until the pseudo-merges fit into x->room words.
 */
static int add_groups(const struct choosing *s, struct extension *x)
{
	const struct bitmap_build_input *build = &s->in->build;
	struct pseudo_select_input input = {
		.history = build->history,
		.commits = build->commits,
		.commit_nr = build->commit_nr,
		.has_bitmap = x->has_bitmap,
		.tips = s->in->pseudo,
		.default_tip_nr = s->in->object_nr / PSEUDO_DEFAULT_OBJECTS,
		.default_merge_nr = PSEUDO_DEFAULT_MERGES,
	};
	int ret;

	if (!s->in->pseudo)
		return 0;
	if (input.default_tip_nr > x->room / 3)
		input.default_tip_nr = x->room / 3;
	for (;;) {
		ret = pseudo_select(&x->groups, &input, s->err);
		if (ret < 0 || !has_default_groups(s) ||
		    input.default_merge_nr == 1 ||
		    estimate_groups(s, &x->groups) <= x->room)
			break;
		pseudo_groups_release(&x->groups);
		input.default_merge_nr /= 2;
	}
	if (!ret && has_default_groups(s))
		take_room(x, estimate_groups(s, &x->groups));
	return ret;
}

/*
 * `spread` has the bitmaps of commits that are spread over the whole history.
 * Chooses further bitmaps, in this order: bitmaps of commits near branches,
 * pseudo-merges, bitmaps of commits near tags and other references. Returns 0
 * or a negative error code.
 */
static int extension_choose(const struct choosing *s, struct extension *x,
			    const struct bitmap_build_result *spread)
{
	int ret;

	x->has_bitmap = mem_calloc(s->in->build.history->nr, 1);
	if (!x->has_bitmap)
		return error_nomem(s->err);
	for (size_t i = 0; i < spread->entry_nr; i++)
		x->has_bitmap[spread->entries[i].commit_nr] = 1;
	ret = add_tips(s, x, SELECT_BRANCH, SELECT_NEW_BRANCH);
	if (!ret)
		ret = add_groups(s, x);
	return ret < 0 ? ret : add_tips(s, x, SELECT_REF, SELECT_REF);
}

static void extension_release(struct extension *x)
{
	free(x->has_bitmap);
	pseudo_groups_release(&x->groups);
}

static int build_extended(const struct choosing *s,
			  struct bitmap_build_result *out,
			  const struct extension *x)
{
	struct bitmap_build_input input = s->in->build;
	uint32_t *selected = mem_alloc(input.commit_nr, sizeof(*selected));
	int ret;

	if (!selected)
		return error_nomem(s->err);
	for (size_t i = 0; i < input.commit_nr; i++)
		if (x->has_bitmap[input.commits[i]])
			selected[input.selected_nr++] = input.commits[i];
	input.selected = selected;
	input.groups = x->groups.groups;
	input.group_nr = x->groups.nr;
	input.progress = NULL;
	ret = bitmap_build(out, &input, s->err);
	free(selected);
	return ret;
}

/*
 * Tries to add bitmaps of about `room` words to the result *out, and sets
 * *words to the size of the result with the additions. Returns 0 if *out is
 * final: the additions fit, or there are none. Returns 1 if the additions were
 * too large and *out is unchanged, or a negative error code.
 */
static int try_extension(const struct choosing *s,
			 struct bitmap_build_result *out, size_t room,
			 size_t *words)
{
	struct bitmap_build_result built = {0};
	struct extension x = {
		.entry_words = words_of(s, out) / (out->entry_nr + 1) + 1,
		.room = room,
		.groups = PSEUDO_GROUPS_INIT,
	};
	int ret = extension_choose(s, &x, out);

	if (ret < 0 || (!x.added_nr && !x.groups.nr))
		goto out;
	ret = build_extended(s, &built, &x);
	if (ret < 0)
		goto out;
	*words = words_of(s, &built);
	ret = room && *words > s->most_words;
	if (!ret) {
		bitmap_build_result_release(out);
		*out = built;
		built = (struct bitmap_build_result){0};
	}
out:
	bitmap_build_result_release(&built);
	extension_release(&x);
	return ret;
}

/*
 * Adds bitmaps near tips, and pseudo-merges. The sizes of these additions are
 * only estimated before they are built. If they exceed the budget, the next try
 * adds fewer. The last try adds only configured pseudo-merges, to which no
 * limit applies.
 */
static int extend(const struct choosing *s, struct bitmap_build_result *out)
{
	size_t before = words_of(s, out), words = 0;
	size_t most = s->most_words > before ? s->most_words - before : 0;
	size_t room = most;
	int ret = 1;

	for (int left = CHOOSE_EXTENSION_TRIES; ret > 0; left--) {
		ret = try_extension(s, out, left > 1 ? room : 0, &words);
		if (ret > 0)
			room = (size_t)((double)room * (double)most /
					(double)(words - before) * 7 / 8);
	}
	return ret;
}

int bitmap_choose(struct bitmap_build_result *out,
		  const struct bitmap_choose_input *input, struct error *err)
{
	struct choosing s = {.in = input, .err = err};
	int ret = build_spread(&s, out);

	return ret < 0 ? ret : extend(&s, out);
}
