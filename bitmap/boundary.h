/* SPDX-License-Identifier: MIT */
/*
 * Boundary traversal. Objects of the haves without a bitmap are found only if
 * the bitmaps of the wants contain them.
 *
 * 	wants      o---o---B          B: a commit with a bitmap
 * 	          /
 * 	   ------o---b---h            b, h: haves' commits without one
 *
 * At this point the commits of both sides are known, and the objects in the
 * wants' bitmaps. These bitmaps contain b and its tree. So the tree of b is
 * read, to find the objects that the haves have; trees that the bitmaps do not
 * contain are skipped. The tree of h is not read, since only the haves reach h.
 */
#ifndef BITMAP_BOUNDARY_H
#define BITMAP_BOUNDARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/fill.h"
#include "ewah/bitset.h"

/*
 * Adds objects to `had`: those of fill->packed that are in trees of `commits`,
 * commits without a bitmap. `had` is by bit_pos and no smaller than
 * fill->packed. A tree that is already in `had` or not in fill->packed is not
 * read; objects below it may be missing in `had` if they also occur elsewhere.
 * Returns 0, ERR_MISSING or ERR_CORRUPT for an unreadable tree, or ERR_NOMEM.
 */
int bitmap_boundary_settle(struct bitset *had, struct bitmap_fill *fill,
			   const uint32_t *commits, size_t nr,
			   struct error *err);

#endif
