/* SPDX-License-Identifier: MIT */
/*
 * How each object of a new pack is stored: what existing packs have is copied
 * as it is, and deltas are kept whenever their base is in the new pack too
 * (or, for a thin pack, with the receiver) and islands allow it.
 *
 * Where they do not, that base's chain is turned round if the search can do
 * it: the object and the whole one at the end of the chain are marked `retry`.
 */
#ifndef PACKING_PLAN_H
#define PACKING_PLAN_H

#include <stdbool.h>

#include "base/error.h"
#include "packing/items.h"
#include "packing/packs.h"

struct plan_options {
	bool reuse_delta;            /* else deltas are made anew (repack -f) */
	bool reuse_object;           /* else nothing is copied (repack -F) */
	unsigned threads;            /* 0: as many as processors */
	uint64_t big_file_threshold; /* larger objects are never deltas */
	/*
	 * What a pack of so many objects or more stores whole is settled: its
	 * maker had enough to compare with. 0: nothing is.
	 */
	uint32_t settled_min;
	/*
	 * Whether an object (by odb_pos, any copy) that is no item may be a
	 * base: the receiver of a thin pack has it, or it is in the pack
	 * already. NULL: none may. Called by several threads.
	 */
	bool (*is_base)(void *ctx, uint32_t odb_pos);
	void *base_ctx;
};

/*
 * Fill in size, pack_nr, how and base of all items. A PACKING_COPY_DELTA
 * without base item is one whose stored base is_base() allows. *packs has
 * tables of all packs of items afterwards. An object that cannot be found is
 * ERR_MISSING.
 */
int plan_items(struct packing_items *list, struct packs *packs,
	       const struct plan_options *options, struct error *err);

#endif
