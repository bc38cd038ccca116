/* SPDX-License-Identifier: MIT */
/*
 * Delta islands: sets of objects that are asked for together. Who gets all of
 * an island and nothing else can be sent every stored delta as it is, because
 * no object of an island is stored as a delta against one outside:
 *
 *	an object's base has to be in every island that the object is in
 *
 * The island known here is the tip: what the trees of chosen commits hold, and
 * so what a clone of depth 1 is made of. Packs without it store files of the
 * newest commit as deltas against older and larger versions of them, which
 * such a clone does not get.
 */
#ifndef ISLANDS_ISLANDS_H
#define ISLANDS_ISLANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

/* Immutable once painted; threads may share it. Numbers are a walk's. */
struct islands {
	struct bitset tip; /* by obj_pos: trees and blobs of tips */
};

#define ISLANDS_INIT                                                           \
	{                                                                      \
		BITSET_INIT                                                    \
	}

void islands_release(struct islands *islands);

/*
 * Paint the trees of the tips' commits, and trees and blobs among the tips
 * themselves. Reads each of these trees once. 0, or negative with *islands
 * partly painted.
 */
int islands_paint_tip(struct islands *islands, struct walk *w,
		      const struct walk_tips *tips, struct error *err);

/* Whether an object is in the tip. NULL: there are no islands. */
static inline bool islands_in_tip(const struct islands *islands,
				  uint32_t obj_pos)
{
	return islands && bitset_get(&islands->tip, obj_pos);
}

/* Whether an object may be stored as a delta against this base. */
static inline bool islands_may_delta(const struct islands *islands,
				     uint32_t obj_pos, uint32_t base_obj_pos)
{
	return !islands_in_tip(islands, obj_pos) ||
	       islands_in_tip(islands, base_obj_pos);
}

#endif
