/* SPDX-License-Identifier: MIT */
/*
 * What keeps objects of a repository alive, enumerated: references, reflogs
 * and indexes, and the commits that are worth a bitmap of their own
 * or a place in the tip island.
 */
#ifndef PACKS_ROOTS_H
#define PACKS_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "refs/refs.h"
#include "walk/walk.h"

/* Branches that get a bitmap without being asked for, newest first. */
#define ROOTS_DEFAULT_TIPS 512

/*
 * Add everything to `tips`: refs, HEAD, and with `all_roots` reflogs and
 * indexes.
 */
int roots_add(struct walk *w, struct walk_tips *tips, struct refs *refs,
	      bool all_roots, struct error *err);

/*
 * Mark by commit_nr the tips that bitmaps are wanted for: those of refs under
 * the prefixes that pack.preferBitmapTips names; without any, HEAD and the
 * newest ROOTS_DEFAULT_TIPS branches. *is_tip is malloc()ed, of
 * w->history.nr bytes: enum select_tip (bitmap/select.h). Call it after the
 * enumeration.
 */
int roots_mark_tips(uint8_t **is_tip, struct walk *w, struct refs *refs,
		    struct error *err);

/*
 * Add what the tip island is painted from (islands/islands.h): the refs under
 * the prefixes that repack.tipIsland names, "HEAD" among them; a value of
 * false takes back those before it, true is HEAD. Without the key: HEAD in a
 * bare repository, nothing in others.
 */
int roots_add_island_tips(struct walk *w, struct walk_tips *tips,
			  struct refs *refs, struct error *err);

#endif
