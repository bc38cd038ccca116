/* SPDX-License-Identifier: MIT */
/*
 * Verifies bitmaps: single bitmaps by walking (verify.c), and all bitmaps of an
 * index (verify-all.c).
 */
#ifndef BITMAP_VERIFY_H
#define BITMAP_VERIFY_H

#include <stdint.h>

#include "base/error.h"
#include "bitmap/file.h"
#include "bitmap/fill.h"
#include "sys/progress.h"
#include "walk/walk.h"

/*
 * Verifies the bitmap of `row`. Finds the closure of the row's commit by
 * walking tree by tree, without any bitmap, and compares. Returns 0 if the
 * closure and the bitmap are equal, or ERR_CORRUPT with a message that names
 * the first object that differs.
 */
int bitmap_verify_row(const struct bitmap_file *file, struct bitmap_space space,
		      struct walk *w, uint32_t row, struct error *err);

/*
 * Verifies the pseudo-merge `nr` like bitmap_verify_row(): its objects must be
 * the closure of all its commits. Returns the same codes.
 */
int bitmap_verify_pseudo(const struct bitmap_file *file,
			 struct bitmap_space space, struct walk *w, uint32_t nr,
			 struct error *err);

/*
 * Sets *commit_nr to the commit at idx_pos, and parses it. Returns 0. If the
 * object is no commit, returns ERR_CORRUPT with a message that names the index
 * and the object.
 */
int bitmap_verify_commit(uint32_t *commit_nr, const struct bitmap_file *file,
			 const struct bitmap_space *space, struct walk *w,
			 uint32_t idx_pos, struct error *err);

/*
 * Compares a bitmap that was read from the index (`stored`) with the result of
 * a walk (`right`). Returns 0 if they are equal, or ERR_CORRUPT. The message
 * names the first object that differs, and the bitmap by `whose`, such as
 * "commit <id>".
 */
int bitmap_verify_same(const struct bitmap_file *file,
		       struct bitmap_space space, const struct bitset *stored,
		       const struct bitset *right, const char *whose,
		       struct error *err);

/*
 * Verifies `nr` bitmaps and pseudo-merges of the file, by bitmap_verify_row()
 * and bitmap_verify_pseudo(). `seed` decides which ones are verified. If the
 * file has no more than `nr`, verifies all. Returns 0, ERR_CORRUPT for the
 * first wrong bitmap, or another negative error code.
 */
int bitmap_verify_sample(const struct bitmap_file *file,
			 struct bitmap_space space, struct walk *w, uint64_t nr,
			 uint64_t seed, struct error *err);

/* ---- all bitmaps with one enumeration of objects */

/*
 * Verifies all bitmaps of an index with a single enumeration of objects. All
 * bitmaps are built again from the objects that each commit adds
 * (bitmap/build.h), and compared bit by bit with the stored ones.
 *
 * If the stored index was written by the same code, an error in this code is
 * not found: both bitmaps are wrong in the same way. The function
 * bitmap_verify_row() does not use this code. It walks every tree, for one
 * bitmap at a time.
 */

/*
 * Verifies that rows are in order and belong to different commits, that the
 * pseudo-merges agree with their lookup table, and that all bitmaps are right.
 * Returns 0, ERR_CORRUPT, or another error code. The message of ERR_CORRUPT
 * names the first object for which a bitmap is wrong, and the owner of the
 * bitmap.
 */
int bitmap_verify_all(const struct bitmap_file *file, struct bitmap_space space,
		      struct walk *w, const struct progress_out *progress,
		      struct error *err);

/*
 * Verifies the type bitmaps against the types in the headers of pack entries.
 * Each object must be in exactly one type bitmap. O(objects); nothing is
 * inflated. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
int bitmap_verify_types(const struct bitmap_file *file,
			struct bitmap_space space, struct error *err);

#endif
