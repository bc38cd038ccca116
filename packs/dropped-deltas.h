/* SPDX-License-Identifier: MIT */
/*
 * Finds the stored deltas that a repack drops because of the tip island: the
 * objects of clones of depth 1 (islands/islands.h). These are deltas of objects
 * in the tip island whose bases are outside of it. Packs of pushes and of stock
 * Git have many such deltas. A fetch of a few commits would send such a delta,
 * so packs/keep-deltas.h keeps the deltas beside the new pack.
 */
#ifndef PACKS_DROPPED_DELTAS_H
#define PACKS_DROPPED_DELTAS_H

#include <stddef.h>

#include "base/error.h"
#include "islands/islands.h"
#include "prepared/kept-deltas.h"
#include "walk/walk.h"

struct dropped_deltas {
	/*
	 * Owned. The field `step` of each delta is 0, which stands for a delta
	 * that a repack has dropped. The streams of the deltas borrow from the
	 * packs of the walk's snapshot, and from `old`.
	 */
	struct kept_delta *deltas;
	size_t nr, alloc;
	/*
	 * the repository's file of kept deltas (objects/info/deltas) before the
	 * repack
	 */
	struct kept_deltas old;
};

#define DROPPED_DELTAS_INIT                                                    \
	{                                                                      \
		.old = KEPT_DELTAS_INIT                                        \
	}

/*
 * List the deltas that packs of the walk's snapshot store for objects of the
 * tip island, if the base of the delta is outside of the island. Then list the
 * deltas that earlier repacks dropped for this reason: the rows of d->old with
 * step 0.
 *
 * A pair of objects is listed once. A delta with a wrong CRC is left out.
 * Release *d in any case. Returns 0 or ERR_NOMEM. Cost: one look at the pack
 * entry of each object in the tip island.
 */
int dropped_deltas_find(struct dropped_deltas *d, const struct walk *w,
			const struct islands *islands, struct error *err);
void dropped_deltas_release(struct dropped_deltas *d);

#endif
