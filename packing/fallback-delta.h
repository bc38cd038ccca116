/* SPDX-License-Identifier: MIT */
/*
 * Fallback deltas: deltas against an object that the receiver is known to have
 * or to get. Each object is compared with one base only; no window of
 * candidates is searched.
 */
#ifndef PACKING_FALLBACK_DELTA_H
#define PACKING_FALLBACK_DELTA_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pack/inflate.h"
#include "packing/find.h"
#include "packing/items.h"

/* The state for making fallback deltas. One thread. */
struct fallback_deltas {
	struct packing_items *items; /* borrowed */
	struct odb_reader *reader;   /* borrowed */
	struct deflater *deflater;   /* owned */
	struct buf stream;
	/* bytes of deflated deltas made so far */
	uint64_t kept;
};

/* An item, and the object that is tried as its base. */
struct fallback_pair {
	uint32_t item;
	/* Item; PACKING_NO_ITEM: `old` is not an item yet. */
	uint32_t base;
	struct walk_item old; /* the object of the base */
};

/* Returns 0 or ERR_NOMEM; release in both cases. */
int fallback_deltas_init(struct fallback_deltas *r, struct packing_items *items,
			 struct odb_reader *reader, int compression);
void fallback_deltas_release(struct fallback_deltas *r);

/*
 * Make a planned item a delta against the base of its pair. The delta has at
 * most max_len bytes, including 20 for the id of the base. If the base is no
 * item, append it as an external item and note it in the pair. If the delta is
 * too long, or an object cannot be read, the item does not change. Returns 0 or
 * ERR_NOMEM.
 */
int fallback_delta_make(struct fallback_deltas *r, struct fallback_pair *pair,
			uint64_t max_len);

/*
 * Make planned items that would be sent whole deltas against the old versions
 * in found->versions. A delta is kept if it has at most half the object's size.
 * Returns 0 or ERR_NOMEM.
 */
int fallback_delta_versions(struct packing_items *items, struct found *found,
			    int compression, struct error *err);

#endif
