/* SPDX-License-Identifier: MIT */
/*
 * Chooses the content of an index: commits with a bitmap (bitmap/select.h,
 * bitmap/tip-select.h) and pseudo-merges (bitmap/pseudo-select.h). An index is
 * made from scratch (choose.c), or adds to an older one (update.c).
 *
 * For an index made from scratch, a budget limits the number of words. There
 * are two steps, each with its own part of the budget.
 *
 * The first step gives bitmaps to commits that are spread over the whole
 * history. The right budget of this step depends on the pack. If the objects
 * that a commit adds are adjacent in the pack, as in our packs, bitmaps are
 * small. If the objects are scattered, bitmaps are up to three times as large.
 * So a plain selection is built only to measure its size: the newest 100
 * commits and then one of every 100. The budget of the first step is computed
 * from this size. Then a better selection is built for a few densities, and the
 * densest that fits the budget of this step is used. In the better selection
 * the gaps between commits grow with the distance from the newest commit. So a
 * query walks less for the same number of bitmaps.
 *
 * The second step adds bitmaps for requests that would still walk far. Its
 * budget is what the first step has left of the budget of the whole index. The
 * configuration may set the budget of the whole index. The default is the size
 * of the plain selection, plus one byte for each object. The second step spends
 * its budget in this order:
 *
 *	each branch            bitmaps near its tip
 *	branches and tags,     pseudo-merges
 *	  and all references
 *	each tag or other      bitmaps near its tip
 *	  reference
 */
#ifndef BITMAP_CHOOSE_H
#define BITMAP_CHOOSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/build.h"
#include "bitmap/previous.h"
#include "bitmap/pseudo-select.h"
#include "sys/progress.h"
#include "walk/newobj.h"
#include "walk/walk.h"

/*
 * Budget for the bitmaps of commits that are spread over the history. The unit
 * is a sixteenth of the size of the bitmaps of a plain selection, which has
 * commits at fixed gaps like an index of stock Git (bitmap/select.h).
 *
 * A bitmap may be stored as an XOR with another bitmap. The bitmaps of the
 * plain selection are built with short XOR chains, because short chains are
 * decoded faster. If the smallest XOR were chosen for each bitmap, whatever the
 * length of its chain, these bitmaps would be about a sixteenth smaller. The
 * budget is this smaller size: 15 sixteenths of the real size.
 */
#define CHOOSE_BUDGET_SIXTEENTHS 15
/*
 * The search for a density ends when at most 1 / CHOOSE_LEFT_PART of the budget
 * is unused.
 */
#define CHOOSE_LEFT_PART 16
/*
 * Maximum number of times that the bitmaps of the spread commits are built on
 * trial. A density (dense_nr in bitmap/select.h) says how many commits get a
 * bitmap. Each trial uses another density, and shows how many words its bitmaps
 * take. The bitmaps of a plain selection (commits at fixed gaps) are also built
 * once, to measure the budget. This build is not counted.
 */
#define CHOOSE_TRIES 6
/*
 * The default budget for all bitmaps of an index, in words. It is the size of a
 * plain selection (commits at fixed gaps, as stock Git selects), plus one word
 * for every CHOOSE_OBJECTS_PER_WORD objects. Commits spread over the history
 * are chosen first. Bitmaps near tips and default pseudo-merges get the words
 * that are left.
 */
#define CHOOSE_OBJECTS_PER_WORD 8
/*
 * Maximum number of attempts to build pseudo-merges, and bitmaps near tips,
 * that together fit into the budget.
 */
#define CHOOSE_EXTENSION_TRIES 4

struct bitmap_choose_input {
	/*
	 * the input of bitmap_build(); its fields `selected`, `groups`, `old`
	 * and `below` are not used
	 */
	struct bitmap_build_input build;
	/*
	 * the same commits as in `build`, sorted from the newest to the oldest
	 */
	const uint32_t *newest_first;
	/*
	 * indexed by commit_nr: the kind of tip that the commit is (enum
	 * select_tip)
	 */
	const uint8_t *is_tip;
	/* tips that may form pseudo-merges; NULL: make none */
	const struct pseudo_tips *pseudo;
	size_t object_nr;
	/*
	 * Limit of the words of all bitmaps, without the bitmaps of configured
	 * pseudo-merges; 0: the default limit. Wanted tips (SELECT_TIP in
	 * bitmap/select.h) get bitmaps even if the limit is exceeded.
	 */
	size_t budget_words;
};

/*
 * Chooses the commits and pseudo-merges of an index made from scratch, and
 * builds their bitmaps. Returns 0, or a negative error code like
 * bitmap_build(). The caller releases *out with bitmap_build_result_release()
 * in any case.
 */
int bitmap_choose(struct bitmap_build_result *out,
		  const struct bitmap_choose_input *input, struct error *err);

/* ---- adding to an older index */

/*
 * Updates an index: chooses the commits that get bitmaps in addition to those
 * of an older index, and prepares the input for building these bitmaps.
 *
 * New commits are those for which the older index has no bit. One of every
 * UPDATE_GAP new commits gets a bitmap, counted from the newest. Every wanted
 * tip without a bitmap gets one too. The bitmaps are built from the commits
 * between the chosen commits and the nearest existing bitmaps. So the cost
 * depends on the number of new objects.
 *
 * For a layer of a chain, the index of the layers below takes the place of the
 * older index. The bitmaps of the layers below stay in their files and are not
 * copied. The layer's own commits are the new commits. In a large layer, fewer
 * commits than one of every UPDATE_GAP get a bitmap: about as many as
 * bitmap_select() would choose from the layer's commits with the largest useful
 * density (bitmap_select_dense_nr()). The wanted tips get bitmaps in any case.
 *
 * A pseudo-merge stays as long as all its commits are tips. Otherwise its
 * remaining tips form a new pseudo-merge.
 */

#define UPDATE_GAP 4

struct bitmap_update_input {
	/*
	 * Borrowed: the older index; NULL for a layer. The update changes
	 * *previous: it removes each pseudo-merge that has a commit which is
	 * not a tip any more. If the field `pseudo_merges` of this struct is
	 * false, the update removes all pseudo-merges from *previous.
	 */
	struct bitmap_previous *previous;
	/* for a layer: the bitmap file of the layers below */
	const struct bitmap_file *below;
	/* the bit space of the new index, which has bits for all tips */
	const struct bitmap_space *space;
	struct walk *walk;
	/* tips (commit_nr); the new index has bits for all of them */
	const uint32_t *tips;
	size_t tip_nr;
	/*
	 * indexed by commit_nr: the kind of tip that the commit is (enum
	 * select_tip)
	 */
	const uint8_t *is_tip;
	/* number of entries in is_tip */
	size_t is_tip_nr;
	bool pseudo_merges;
	/*
	 * limit of the words of all bitmaps of the new index, as in struct
	 * bitmap_choose_input; 0: the default limit
	 */
	size_t budget_words;
	/*
	 * Limit of the number of commits in pseudo-merges, including existing
	 * pseudo-merges. At the limit, the newest tips are left out of new
	 * pseudo-merges.
	 */
	size_t grouped_max;
	/* number of threads; 0: as many as processors */
	unsigned threads;
	/* memory limit in bytes, as in struct newobj_options (walk/newobj.h) */
	uint64_t memory_limit;
	const struct progress_out *progress;
};

struct bitmap_update {
	/*
	 * owned: the commits (commit_nr) whose new-object lists are needed,
	 * parents first
	 */
	uint32_t *commits;
	size_t commit_nr, commit_alloc;
	/* number of commits that have no bit in the older index */
	size_t new_nr;
	struct newobj_set lists;
	/* owned: the commits (commit_nr) that get bitmaps */
	uint32_t *selected;
	size_t selected_nr, selected_alloc;
	struct pseudo_groups groups; /* pseudo-merges to build */
};

/*
 * Chooses commits and lists their objects. Returns 0 on success, or a negative
 * error code. Returns 1 if the index should be made from scratch, because too
 * many commits are new or there would be too many bitmaps. For a layer, never
 * returns 1. The caller releases *update in any case.
 */
int bitmap_update_choose(struct bitmap_update *update,
			 const struct bitmap_update_input *in,
			 struct error *err);
void bitmap_update_release(struct bitmap_update *update);

#endif
