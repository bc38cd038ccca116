/* SPDX-License-Identifier: MIT */
/*
 * Planning how each object of a new pack is stored. Stored bytes are copied as
 * they are. A stored delta is kept if islands allow its base and the base is in
 * the new pack. For a thin pack, the receiver may have the base instead.
 *
 * If islands forbid a base, the object and the whole object at the end of the
 * base's chain are marked `retry`. The delta search can then make one a delta
 * of the other.
 */
#ifndef PACKING_PLAN_H
#define PACKING_PLAN_H

#include <stdbool.h>

#include "base/error.h"
#include "packing/items.h"
#include "packing/packs.h"

struct plan_options {
	/* else deltas are made anew (repack -f) */
	bool reuse_delta;
	/* else nothing is copied (repack -F) */
	bool reuse_object;
	unsigned threads; /* 0: as many as processors */
	/* Bytes; larger objects never become deltas. */
	uint64_t big_file_threshold;
	/*
	 * Whole objects in a pack of at least so many objects become `settled`:
	 * the search that made the pack had enough candidates. 0: none.
	 */
	uint32_t settled_min;
	/*
	 * Whether an object (by odb_pos, any copy) that is no item may be a
	 * base. Either the receiver of a thin pack has the object, or it is in
	 * the new pack already. NULL: none may. Called by several threads.
	 */
	bool (*is_base)(void *ctx, uint32_t odb_pos);
	void *base_ctx;
};

/*
 * Fill in size, pack_nr, how and base of all items. A PACKING_COPY_DELTA item
 * without base item has a stored base that is_base() allows. Afterwards *packs
 * has tables of all packs of items. Returns 0 or a negative error code:
 * ERR_MISSING if an object cannot be found.
 */
int plan_items(struct packing_items *list, struct packs *packs,
	       const struct plan_options *options, struct error *err);

#endif
