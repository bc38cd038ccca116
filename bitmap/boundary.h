/* SPDX-License-Identifier: MIT */
/*
 * Boundary traversal: of what the haves reach without a bitmap, only that is
 * found which the wants reach by theirs.
 *
 *	wants      o---o---B          B: a commit with a bitmap
 *	          /
 *	   ------o---b---h            b, h: haves' commits without one
 *
 * Commits of both sides are known then, and what the wants' bitmaps hold. Of b,
 * which they hold too, its tree is in doubt: it is looked into as far as there
 * is doubt. That of h, which only the haves reach, is not.
 */
#ifndef BITMAP_BOUNDARY_H
#define BITMAP_BOUNDARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/fill.h"
#include "ewah/bitset.h"

/*
 * Add to `had` (by bit_pos; no smaller than fill->packed) what trees of commits
 * without bitmap have of the objects in fill->packed that are not in `had`. A
 * tree in which there is no doubt is not entered: what it has may be left in
 * doubt when it is somewhere else, too. 0, ERR_MISSING or ERR_CORRUPT for a
 * tree that cannot be read, or ERR_NOMEM.
 */
int bitmap_boundary_settle(struct bitset *had, struct bitmap_fill *fill,
			   const uint32_t *commits, size_t nr,
			   struct error *err);

#endif
