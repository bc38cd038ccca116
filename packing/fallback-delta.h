/* SPDX-License-Identifier: MIT */
/*
 * Fallback deltas: deltas against an object that the receiver is known to have
 * or to get. Each object is compared with one base only; no window of
 * candidates is searched.
 */
#ifndef PACKING_FALLBACK_DELTA_H
#define PACKING_FALLBACK_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pack/inflate.h"
#include "packing/find.h"
#include "packing/items.h"
#include "packing/packs.h"

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

/*
 * ---- fallback-chains.c
 *
 * New bases for stored deltas whose base is not sent: the next object up their
 * delta chain that is sent.
 *
 *       b---c---x         b: sent, c: not sent    x: becomes a delta of b
 *      /     \
 *  ---a       y                                   y: becomes a delta of x
 *
 * With a depth limit, nearly every chain has such gaps. The objects that remain
 * on a chain still differ little from each other. So no search is needed to
 * find a base.
 */

/* All borrowed. */
struct fallback_chains_options {
	/* has tables of all packs of the items */
	const struct packs *packs;
	struct odb_reader *reader;
	/* As in plan.h. */
	bool (*is_base)(void *ctx, uint32_t odb_pos);
	void *base_ctx;
	int compression; /* zlib level, -1: default */
	/* limit of bytes of deltas to make; 0: no limit */
	uint64_t cache_size;
};

/*
 * Set `retry` of planned items that are stored as deltas but would be sent
 * whole because their base is not sent. The delta search may then try them
 * against other items of their pack. Only items that share type and name hash
 * with another item are marked: a search for other items would rarely succeed.
 * Call this function before fallback_chains_make(). Returns 0 or ERR_NOMEM.
 */
int fallback_chains_retry(struct packing_items *items,
			  const struct packs *packs, struct error *err);

/*
 * Make the planned items whose stored base is not sent fallback deltas. The
 * base is the next object up the delta chain that is an item or that is_base()
 * allows. If another orphan of the same chain was handled before, that item may
 * be the base instead.
 *
 * A delta is kept if it has at most half of the object's size. If the delta
 * search may find a better one (`retry`), the limit is a sixteenth of the size,
 * but at least 1024 bytes.
 *
 * Delta chains have no cycles, even if the packs contradict each other. No
 * chain gets longer than in its pack if each object is in one pack only.
 *
 * The work stops once `cache_size` bytes of deltas exist; the remaining items
 * stay whole. Returns 0 or ERR_NOMEM.
 *
 * Cost: each of these items and its base are read once. Deflating the object
 * whole would cost more.
 */
int fallback_chains_make(struct packing_items *items,
			 const struct fallback_chains_options *options,
			 struct error *err);

#endif
