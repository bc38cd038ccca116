/* SPDX-License-Identifier: MIT */
/*
 * Enumerating the roots of reachability: references, reflogs and indexes. Also
 * the tips that get bitmaps or belong to the tip island.
 */
#ifndef PACKS_ROOTS_H
#define PACKS_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "refs/refs.h"
#include "walk/walk.h"

/* The largest number of newest branches that get a bitmap by default. */
#define ROOTS_DEFAULT_TIPS 512

/*
 * Add all roots to `tips`: references, HEAD, and with `all_roots` reflogs and
 * indexes. Returns 0 or a negative error code.
 */
int roots_add(struct walk *w, struct walk_tips *tips, struct refs *refs,
	      bool all_roots, struct error *err);

/*
 * Mark the tips that get bitmaps, by commit_nr. These are the tips of
 * references under the prefixes of pack.preferBitmapTips. Without that key:
 * HEAD and the newest ROOTS_DEFAULT_TIPS branches. *is_tip is malloc()ed, of
 * w->history.nr bytes: enum select_tip (bitmap/select.h). Call this function
 * after the enumeration. Returns 0 or a negative error code.
 */
int roots_mark_tips(uint8_t **is_tip, struct walk *w, struct refs *refs,
		    struct error *err);

/*
 * Add the tips of the tip island (islands/islands.h): references under the
 * prefixes of repack.tipIsland. "HEAD" or true stands for HEAD; false drops all
 * values before it. Without the key: HEAD in a bare repository, nothing in
 * others. Returns 0 or a negative error code.
 */
int roots_add_island_tips(struct walk *w, struct walk_tips *tips,
			  struct refs *refs, struct error *err);

/*
 * Find a value of repack.tipIsland that counts and names no reference. *value
 * is borrowed from the configuration; NULL: each value names one. Returns 0 or
 * a negative error code.
 */
int roots_find_idle_island(const char **value, const struct repo *repo,
			   struct refs *refs, struct error *err);

#endif
