/* SPDX-License-Identifier: MIT */
/* Verifies bitmaps by walking. */
#ifndef BITMAP_VERIFY_H
#define BITMAP_VERIFY_H

#include <stdint.h>

#include "base/error.h"
#include "bitmap/fill.h"
#include "bitmap/file.h"
#include "walk/walk.h"

/*
 * Walks the closure of a commit, tree by tree without any bitmap, and compares
 * it with the bitmap of `row`. Returns 0 if they are equal, or ERR_CORRUPT with
 * a message that names the first object that differs.
 */
int bitmap_verify_row(const struct bitmap_file *file, struct bitmap_space space,
		      struct walk *w, uint32_t row, struct error *err);

/*
 * Works like bitmap_verify_row() for a pseudo-merge, whose objects must be the
 * closure of all its commits.
 */
int bitmap_verify_pseudo(const struct bitmap_file *file,
			 struct bitmap_space space, struct walk *w, uint32_t nr,
			 struct error *err);

/*
 * Returns the commit of an indexed object, parsed. Returns 0, or ERR_CORRUPT
 * with a message that names the index and the object if it is not a commit.
 */
int bitmap_verify_commit(uint32_t *commit_nr, const struct bitmap_file *file,
			 const struct bitmap_space *space, struct walk *w,
			 uint32_t idx_pos, struct error *err);

/*
 * Compares a stored bitmap with the right one. Returns 0 or ERR_CORRUPT; the
 * message names the first object that differs, and `whose` bitmap it is
 * ("commit <id>").
 */
int bitmap_verify_same(const struct bitmap_file *file,
		       struct bitmap_space space, const struct bitset *stored,
		       const struct bitset *right, const char *whose,
		       struct error *err);

/*
 * Verifies `nr` bitmaps and pseudo-merges, chosen by `seed`, like
 * bitmap_verify_row() and bitmap_verify_pseudo(). Verifies all if there are no
 * more than `nr`.
 */
int bitmap_verify_sample(const struct bitmap_file *file,
			 struct bitmap_space space, struct walk *w, uint64_t nr,
			 uint64_t seed, struct error *err);

#endif
