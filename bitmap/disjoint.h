/* SPDX-License-Identifier: MIT */
/*
 * Old history that has nothing to do with some objects: commits that have a
 * bitmap and reach none of them. Whoever looks for what reaches these objects
 * need not walk past such a commit.
 */
#ifndef BITMAP_DISJOINT_H
#define BITMAP_DISJOINT_H

#include "base/error.h"
#include "bitmap/file.h"
#include "bitmap/space.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

/*
 * Add to *bounds indexed commits that reach nothing in `set` (by bit_pos).
 * With an empty set any does, because what is indexed is closed: those are
 * added that are met first on the ways from `wants`. Otherwise these are
 * commits with bitmaps, but for those that another of them reaches; commits
 * between the bitmaps are not looked at. All are parsed. 0, or negative
 * (ERR_CORRUPT for a broken bitmap) with some of them added.
 *
 * Cost: the commits on these ways; or each bitmap is decoded that none of the
 * result reaches.
 */
int bitmap_disjoint_commits(struct walk_tips *bounds,
			    const struct bitmap_file *file,
			    const struct bitmap_space *space, struct walk *w,
			    const struct walk_tips *wants,
			    const struct bitset *set, struct error *err);

#endif
