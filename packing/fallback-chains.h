/* SPDX-License-Identifier: MIT */
/*
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
#ifndef PACKING_FALLBACK_CHAINS_H
#define PACKING_FALLBACK_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "packing/items.h"
#include "packing/packs.h"

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
