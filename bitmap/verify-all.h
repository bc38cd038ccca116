/* SPDX-License-Identifier: MIT */
/*
 * Verifies all bitmaps of an index with a single enumeration of objects. They
 * are built again from the objects that each commit adds (bitmap/build.h), and
 * compared bit by bit.
 *
 * The index may have been written by the same code, with the same errors.
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
 * Verifies that rows are in order and belong to different commits, that
 * pseudo-merges agree with their lookup, and every bitmap of both. Returns 0,
 * ERR_CORRUPT, or another error code. The message of ERR_CORRUPT names the
 * first object for which a bitmap is wrong, and the owner of the bitmap.
 */
int bitmap_verify_all(const struct bitmap_file *file, struct bitmap_space space,
		      struct walk *w, const struct progress_out *progress,
		      struct error *err);

/*
 * Verifies the type bitmaps against the types of the pack entries. Each object
 * must be in exactly one. O(objects); nothing is inflated.
 */
int bitmap_verify_types(const struct bitmap_file *file,
			struct bitmap_space space, struct error *err);

#endif
