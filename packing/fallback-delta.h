/* SPDX-License-Identifier: MIT */
/*
 * Fallback deltas: deltas whose base is an object that the receiver is known to
 * have, or to get with this pack. Each object is compared with one base only;
 * no window of candidates is searched.
 */
#ifndef PACKING_FALLBACK_DELTA_H
#define PACKING_FALLBACK_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pack/inflate.h"
#include "packing/find.h"
#include "deltas/items.h"
#include "packing/packs.h"

/*
 * State for making fallback deltas (each against one given base, without a
 * search). For one thread.
 */
struct fallback_deltas {
	struct packing_items *items; /* borrowed */
	struct odb_reader *reader;   /* borrowed */
	struct deflater *deflater;   /* owned */
	struct buf stream;
	/* total bytes of the deflated deltas made so far */
	uint64_t kept;
};

/*
 * An item (an object to send), and the object that is tried as its delta base.
 */
struct fallback_pair {
	uint32_t item;
	/* item number of the base; PACKING_NO_ITEM: `old` is not an item yet */
	uint32_t base;
	/* the object that is tried as the base */
	struct walk_item old;
};

/* Initialise *r. Returns 0 or ERR_NOMEM; release *r in both cases. */
int fallback_deltas_init(struct fallback_deltas *r, struct packing_items *items,
			 struct odb_reader *reader, int compression);
void fallback_deltas_release(struct fallback_deltas *r);

/*
 * Turn pair->item, an object to send, into a delta against the object
 * pair->old. The delta may have at most max_len bytes, including 20 bytes for
 * the id of the base. If pair->old is not among the items (pair->base is
 * PACKING_NO_ITEM), an external item (an item that is a base and is not
 * written) is appended for it, and pair->base is set to this item. If the delta
 * is too long, or an object cannot be read, the item does not change. Returns 0
 * or ERR_NOMEM.
 */
int fallback_delta_make(struct fallback_deltas *r, struct fallback_pair *pair,
			uint64_t max_len);

/*
 * Turn items (objects to send) that would be sent whole into deltas. Their
 * bases are the older versions in found->versions. A kept delta (one that a
 * repack has stored beside a pack) is used as it is stored. A new delta is used
 * if it has at most half the object's size. Returns 0 or ERR_NOMEM.
 *
 * `sent` has the bits of the objects that were copied in spans (runs of stored
 * entries). If the receiver does not have the base of a kept delta, the delta
 * is used only if `sent` has the base. An item to write is never a base, so
 * deltas make no cycle.
 */
int fallback_delta_versions(struct packing_items *items, struct found *found,
			    const struct bitset *sent, int compression,
			    struct error *err);

/*
 * ---- fallback-chains.c
 *
 * New bases for stored deltas whose base is not sent. The new base is the next
 * object up the delta chain that is sent.
 *
 *       b---c---x         b: sent, c: not sent    x: becomes a delta of b
 *      /     \
 * ---a       y                                   y: becomes a delta of x
 *
 * If the client limits the depth of history, nearly every chain has such gaps.
 * The objects that remain of a chain still differ little from each other. So a
 * base is found without a search.
 */

/* All pointers are borrowed. */
struct fallback_chains_options {
	/* look-up tables of all packs in which items are stored */
	const struct packs *packs;
	struct odb_reader *reader;
	/*
	 * Returns whether an object that is not an item may be a delta base,
	 * see plan.h.
	 */
	bool (*is_base)(void *ctx, uint32_t odb_pos);
	void *base_ctx;
	/* zlib level; -1: zlib's default */
	int compression;
	/*
	 * maximum of the total bytes of the deltas that are made; 0: no maximum
	 */
	uint64_t cache_size;
};

/*
 * Set `retry` of items (objects to send) whose stored deltas cannot be copied
 * because their bases are not sent. Without a new delta, such an item would be
 * sent whole. With `retry`, the delta search may also compare the item with
 * other items of its pack. An item is marked only if another item has the same
 * type and name hash, because a search would rarely succeed otherwise. Call
 * this function before fallback_chains_make(). Returns 0 or ERR_NOMEM.
 */
int fallback_chains_retry(struct packing_items *items,
			  const struct packs *packs, struct error *err);

/*
 * Make new deltas of orphans: items (objects to send) that are stored as
 * deltas, and whose stored base is not sent. To find a new base, the delta
 * chain of the orphan is followed from its stored base on, towards the whole
 * object at the end. The first object of the chain that is an item, or that
 * is_base() allows, becomes the new base.
 *
 * The delta chains of two orphans may have an object in common that is not
 * sent, such as c in the drawing above. If the search for the base of the
 * second orphan reaches this object, it ends there: the orphan that was handled
 * first becomes the new base.
 *
 * A new delta is used if it has at most half of the object's size. If the delta
 * search may find a better delta (`retry`), the limit is a sixteenth of the
 * object's size, but at least 1024 bytes.
 *
 * The new delta chains have no cycles. This is true even if one pack stores A
 * as a delta of B, and another pack stores B as a delta of A. If each object is
 * in one pack only, no chain gets longer than in its pack.
 *
 * When `cache_size` bytes of deltas exist, the work stops, and the remaining
 * items stay whole. Returns 0 or ERR_NOMEM.
 *
 * Cost: each orphan and its base are read once. Deflating the orphan whole
 * would cost more.
 */
int fallback_chains_make(struct packing_items *items,
			 const struct fallback_chains_options *options,
			 struct error *err);

#endif
