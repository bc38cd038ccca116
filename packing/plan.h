/* SPDX-License-Identifier: MIT */
/*
 * Plans how each object of a new pack is stored. Stored bytes are copied as
 * they are. A stored delta is copied if islands allow its base and the base is
 * in the new pack. For a thin pack, it suffices that the receiver has the base.
 *
 * If islands forbid the base of a stored delta, the object (A) needs another
 * base. Let W be the object that is stored whole at the end of A's delta chain.
 * Islands may allow that A is stored as a delta of W, or W as a delta of A. So
 * both A and W are marked `retry`: the delta search tries them again.
 *
 * Stored delta chains may be longer than the new pack allows: a client may push
 * a chain of any length. Such a chain is cut into pieces. The first object of
 * each piece is not copied as a delta, and is marked `retry`.
 */
#ifndef PACKING_PLAN_H
#define PACKING_PLAN_H

#include <stdbool.h>

#include "base/error.h"
#include "deltas/items.h"
#include "packing/packs.h"

struct plan_options {
	/*
	 * Copy stored deltas. false: all deltas are searched again (repack -f).
	 */
	bool reuse_delta;
	/*
	 * Copy stored objects. false: all objects are inflated and deflated
	 * again (repack -F).
	 */
	bool reuse_object;
	/*
	 * Maximum number of objects in a chain of copied deltas, including the
	 * object that is stored whole. 0: no limit.
	 */
	uint32_t chain_max;
	/* number of threads; 0: as many as processors */
	unsigned threads;
	/* maximum bytes of an object that may become a delta */
	uint64_t big_file_threshold;
	/*
	 * We assume that a pack with at least this number of objects was made
	 * by a delta search with enough candidates. So its whole objects are
	 * marked `settled`: they are sent whole without a delta search. 0: no
	 * object is marked.
	 */
	uint32_t settled_min;
	/*
	 * Returns whether an object that is not an item may be a delta base. It
	 * may be one if the receiver of a thin pack has the object, or if the
	 * new pack gets it without an item (in a copied run of stored bytes).
	 * `odb_pos` may be the position of any copy. NULL: no such object may
	 * be a base. Several threads call this function.
	 */
	bool (*is_base)(void *ctx, uint32_t odb_pos);
	void *base_ctx;
};

/*
 * Fill in the members `size`, `pack_nr`, `how` and `base` of all items. A
 * stored delta is copied (PACKING_COPY_DELTA) only if its base is an item or
 * is_base() allows the base. Afterwards *packs has tables of all packs of the
 * items. Returns 0 or a negative error code: ERR_MISSING if an object cannot be
 * found.
 */
int plan_items(struct packing_items *list, struct packs *packs,
	       const struct plan_options *options, struct error *err);

#endif
