/* SPDX-License-Identifier: MIT */
/*
 * All bitmaps of an index against what they ought to hold, at the price of one
 * enumeration: they are built anew from what each commit adds (bitmap/build.h)
 * and compared bit by bit.
 *
 * The index may have been written in the same way, with the same mistakes.
 * bitmap_verify_row() walks every tree instead, for one bitmap at a time.
 */
#ifndef BITMAP_VERIFY_ALL_H
#define BITMAP_VERIFY_ALL_H

#include "base/error.h"
#include "bitmap/file.h"
#include "bitmap/fill.h"
#include "sys/progress.h"
#include "walk/walk.h"

/*
 * Check that rows are in order and name different commits, that pseudo-merges
 * agree with their lookup, and every bitmap of either. 0; ERR_CORRUPT with a
 * message that names the first object on which a bitmap is wrong, and whose
 * bitmap that is; or another error.
 */
int bitmap_verify_all(const struct bitmap_file *file, struct bitmap_space space,
		      struct walk *w, const struct progress_out *progress,
		      struct error *err);

/*
 * Check the type bitmaps against the types that entries of the pack have: each
 * object is in exactly one. O(objects); nothing is inflated.
 */
int bitmap_verify_types(const struct bitmap_file *file,
			struct bitmap_space space, struct error *err);

#endif
