/* SPDX-License-Identifier: MIT */
/* Proving bitmaps right by walking. */
#ifndef BITMAP_VERIFY_H
#define BITMAP_VERIFY_H

#include <stdint.h>

#include "base/error.h"
#include "bitmap/fill.h"
#include "bitmap/file.h"
#include "walk/walk.h"

/*
 * Walk everything that a commit reaches, tree by tree without any bitmap, and
 * compare with the bitmap of `row`. Returns 0 when they are equal, or
 * ERR_CORRUPT with a message that names the first object on which they
 * differ.
 */
int bitmap_verify_row(const struct bitmap_file *file, struct bitmap_space space,
		      struct walk *w, uint32_t row, struct error *err);

/* The same for a pseudo-merge, which has to reach what all its commits do. */
int bitmap_verify_pseudo(const struct bitmap_file *file,
			 struct bitmap_space space, struct walk *w, uint32_t nr,
			 struct error *err);

/*
 * The commit whose bitmap is that of an indexed object, parsed. ERR_CORRUPT,
 * naming the index and the object, when it is no commit.
 */
int bitmap_verify_commit(uint32_t *commit_nr, const struct bitmap_file *file,
			 const struct bitmap_space *space, struct walk *w,
			 uint32_t idx_pos, struct error *err);

/*
 * Compare what is stored with what is right. ERR_CORRUPT names the first object
 * on which they differ, and `whose` bitmap that is ("commit <id>").
 */
int bitmap_verify_same(const struct bitmap_file *file,
		       struct bitmap_space space, const struct bitset *stored,
		       const struct bitset *right, const char *whose,
		       struct error *err);

/*
 * bitmap_verify_row() and bitmap_verify_pseudo() for `nr` of the bitmaps and
 * pseudo-merges, chosen by `seed`; for all when there are no more.
 */
int bitmap_verify_sample(const struct bitmap_file *file,
			 struct bitmap_space space, struct walk *w, uint64_t nr,
			 uint64_t seed, struct error *err);

#endif
