/* SPDX-License-Identifier: MIT */
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
