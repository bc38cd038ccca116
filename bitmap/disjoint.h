/* SPDX-License-Identifier: MIT */
/*
 * Finds commits that do not reach any object of a set, by their bitmaps. A
 * search for the commits that reach these objects need not walk past such a
 * commit.
 */
#ifndef BITMAP_DISJOINT_H
#define BITMAP_DISJOINT_H

#include "base/error.h"
#include "bitmap/file.h"
#include "bitmap/space.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

/*
 * Adds indexed commits that reach no object of `set` (by bit_pos) to *bounds.
 * All added commits are parsed. Returns 0, or a negative error code with some
 * commits added. ERR_CORRUPT means a broken bitmap.
 *
 * With an empty set the first indexed commits on all paths from `wants` are
 * added, since the index is closed under reachability. Otherwise commits with
 * bitmaps are added, except those that another added commit reaches. Commits
 * between bitmaps are not considered.
 *
 * The cost is that of walking these paths, or of decoding each bitmap that no
 * added commit covers.
 */
int bitmap_disjoint_commits(struct walk_tips *bounds,
			    const struct bitmap_file *file,
			    const struct bitmap_space *space, struct walk *w,
			    const struct walk_tips *wants,
			    const struct bitset *set, struct error *err);

#endif
