/* SPDX-License-Identifier: MIT */
/*
 * Chooses the content of an index: commits with a bitmap (bitmap/select.h) and
 * pseudo-merges (bitmap/pseudo-select.h). An index is made from scratch
 * (choose.c), or adds to an older one (update.c).
 *
 * From scratch, a budget limits the number of words.
 *
 * The size of a bitmap depends on the order of the bits. In our packs the
 * objects that a commit adds are adjacent. In other packs they are scattered,
 * and bitmaps are up to three times as large. So a plain selection is built
 * first: the newest 100 commits and then one of 100. Its size is the budget.
 * Then a better selection is made, which thins out with distance, so that a
 * query walks less for the same number of bitmaps. It is built for a few
 * densities, and the densest that fits the budget is used.
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
 * The part of the plain selection's size that is spent, in sixteenths. The rest
 * compensates for XORs that are chosen to limit the length of chains, since
 * these are a little larger than the smallest XORs.
 */
#define CHOOSE_BUDGET_SIXTEENTHS 15
/* One of this many bitmaps may be of a tip that is not configured. */
#define CHOOSE_TIPS_PART 4
/* One of this many words may be of a default pseudo-merge. */
#define CHOOSE_PSEUDO_PART 4
/* One of this many words may stay unused. */
#define CHOOSE_LEFT_PART 16
/* Limit of builds, besides those of plain selections. */
#define CHOOSE_TRIES 6

struct bitmap_choose_input {
	/* Without `selected`, `groups`, old bitmaps and layers below. */
	struct bitmap_build_input build;
	/* the same commits as in `build` */
	const uint32_t *newest_first;
	/* by commit_nr: enum select_tip */
	const uint8_t *is_tip;
	const struct pseudo_tips *pseudo; /* NULL: no pseudo-merges */
	size_t object_nr;
};

/*
 * Chooses and builds. Returns 0, or a negative error code like bitmap_build().
 * The caller releases *out with bitmap_build_result_release() in any case.
 */
int bitmap_choose(struct bitmap_build_result *out,
		  const struct bitmap_choose_input *input, struct error *err);

/* ---- adding to an older index */

/*
 * Updates an index: chooses the commits that get bitmaps in addition to those
 * of an older index, and the input for building them.
 *
 * New commits are those for which the older index has no bit. One of every
 * UPDATE_GAP new commits gets a bitmap, counted from the newest, and every
 * wanted tip without one. The bitmaps are built from the commits between these
 * and the nearest existing bitmaps. So the cost depends on the number of new
 * objects.
 *
 * For a layer of a chain the older index is that of the layers below. Their
 * bitmaps are used in place, and new commits are the layer's own. The layer
 * gets at most as many bitmaps as the densest selection of its commits has.
 *
 * A pseudo-merge stays as long as all its commits are tips. Otherwise its
 * remaining tips form a new one.
 */

#define UPDATE_GAP 4

struct bitmap_update_input {
	/*
	 * borrowed; pseudo-merges that do not stay are removed; NULL for a
	 * layer
	 */
	struct bitmap_previous *previous;
	/* for a layer: file of the layers below */
	const struct bitmap_file *below;
	const struct bitmap_space *space; /* of the new index */
	struct walk *walk;
	const uint32_t *tips; /* commit_nr; all have bits */
	size_t tip_nr;
	/* by commit_nr: enum select_tip */
	const uint8_t *is_tip;
	/* number of entries of is_tip */
	size_t is_tip_nr;
	bool pseudo_merges;
	/*
	 * limit of commits in pseudo-merges, beyond which none are added; the
	 * oldest are added first
	 */
	size_t grouped_max;
	unsigned threads;
	uint64_t memory_limit; /* as in walk/newobj.h */
	const struct progress_out *progress;
};

struct bitmap_update {
	/* owned: parents first, with lists */
	uint32_t *commits;
	size_t commit_nr, commit_alloc;
	/* number of commits without a bit in the older index */
	size_t new_nr;
	struct newobj_set lists;
	/* owned: commits that get bitmaps */
	uint32_t *selected;
	size_t selected_nr, selected_alloc;
	struct pseudo_groups groups; /* pseudo-merges to build */
};

/*
 * Chooses commits and lists their objects. Returns 0, 1 if the index should be
 * made from scratch, or a negative error code. 1 means that too much is new, or
 * that there would be too many bitmaps; it is not returned for a layer. The
 * caller releases *update in any case.
 */
int bitmap_update_choose(struct bitmap_update *update,
			 const struct bitmap_update_input *in,
			 struct error *err);
void bitmap_update_release(struct bitmap_update *update);

#endif
