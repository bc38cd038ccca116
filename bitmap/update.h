/* SPDX-License-Identifier: MIT */
/*
 * Bringing an index up to date: which commits get bitmaps besides those that an
 * older index has, and what they are built from.
 *
 * New commits are those that the older index has no bit for. Of these one of
 * every UPDATE_GAP gets a bitmap, counted from the newest, and every wanted tip
 * that has none. What is built from are the commits on the way back from these
 * to the nearest bitmaps, so that the cost follows what is new.
 *
 * For a layer of a chain the older index is that of the layers below, whose
 * bitmaps are used where they are, and new commits are the layer's own; it gets
 * no more bitmaps than the densest choice among them.
 *
 * Pseudo-merges stay while all their commits are tips. What is left of another
 * one becomes one again.
 */
#ifndef BITMAP_UPDATE_H
#define BITMAP_UPDATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/previous.h"
#include "bitmap/pseudo-select.h"
#include "sys/progress.h"
#include "walk/newobj.h"
#include "walk/walk.h"

#define UPDATE_GAP 4

struct bitmap_update_input {
	struct bitmap_previous *previous; /* borrowed; pseudo-merges that do not
					     stay are removed; NULL: a layer */
	const struct bitmap_file *below;  /* of a layer: of those below */
	const struct bitmap_space *space; /* of the new index */
	struct walk *walk;
	const uint32_t *tips; /* commit_nr; all have bits */
	size_t tip_nr;
	const uint8_t *is_tip; /* by commit_nr: enum select_tip */
	size_t is_tip_nr;      /* entries of is_tip */
	bool pseudo_merges;
	size_t grouped_max; /* commits in pseudo-merges beyond which no more
			       come; the oldest first */
	unsigned threads;
	uint64_t memory_limit; /* as in walk/newobj.h */
	const struct progress_out *progress;
};

struct bitmap_update {
	uint32_t *commits; /* owned: parents first, with lists */
	size_t commit_nr, commit_alloc;
	size_t new_nr; /* of them: that the older index has no bit for */
	struct newobj_set lists;
	uint32_t *selected; /* owned: commits that get bitmaps */
	size_t selected_nr, selected_alloc;
	struct pseudo_groups groups; /* pseudo-merges to be built */
};

/*
 * Returns 0; unless it is a layer, 1 when so much would be new, or so many
 * bitmaps would be there, that it is time to choose them anew; or a negative
 * error. Release in any case.
 */
int bitmap_update_choose(struct bitmap_update *update,
			 const struct bitmap_update_input *in,
			 struct error *err);
void bitmap_update_release(struct bitmap_update *update);

#endif
