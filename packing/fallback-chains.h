/* SPDX-License-Identifier: MIT */
/*
 * New bases for stored deltas whose base is not sent: what comes next on their
 * chain.
 *
 *	     b---c---x         b: sent, c: not       x: a delta against b
 *	    /     \
 *	---a       y                                 y: a delta against x
 *
 * A depth-limited request leaves such holes in nearly every chain. Between two
 * neighbours of what is left there are few changes, which is why they are on
 * one chain, so that no search is needed to know what is like what.
 */
#ifndef PACKING_FALLBACK_CHAINS_H
#define PACKING_FALLBACK_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "packing/items.h"
#include "packing/packs.h"

/* All borrowed. */
struct fallback_chains_options {
	const struct packs *packs; /* with tables of all packs of items */
	struct odb_reader *reader;
	/* As in plan.h. */
	bool (*is_base)(void *ctx, uint32_t odb_pos);
	void *base_ctx;
	int compression;     /* zlib level, -1: default */
	uint64_t cache_size; /* bytes of deltas to make; 0: any number */
};

/*
 * Mark planned items that are stored as deltas, and that will be sent whole
 * since their base is not sent, as such that the search may try against others
 * of their pack (`retry`), but only where there is another item of their type
 * and name hash: for others it would be in vain as a rule. Before
 * fallback_chains_make(), if at all. 0 or ERR_NOMEM.
 */
int fallback_chains_retry(struct packing_items *items,
			  const struct packs *packs, struct error *err);

/*
 * Make such items deltas against the next object up their chain that is an item
 * or that is_base() allows; or, where another of them has come past before one
 * finds that, against that item. What is more than half of an object's size is
 * not taken, nor what is more than a sixteenth, unless that is little, of one
 * that the search may do better for.
 *
 * No chain comes back to itself, whatever the packs say, and none gets longer
 * than it is in its pack, as long as each object is in one pack only. It ends
 * when `cache_size` is used up, with the item that does so: what comes after
 * it stays whole. 0 or ERR_NOMEM.
 *
 * Cost: each of these items and its base are read, once; to deflate it whole
 * would cost more.
 */
int fallback_chains_make(struct packing_items *items,
			 const struct fallback_chains_options *options,
			 struct error *err);

#endif
