/* SPDX-License-Identifier: MIT */
/*
 * The delta chains of a pack: the base and the depth of each object.
 *
 * They are read from entry headers only; nothing is inflated. The objects that
 * are made, directly or indirectly, from one whole object are its family.
 * Families are independent of each other, so threads can work on them in
 * parallel.
 *
 * The offsets are sorted here. A .rev file is not used, because it may be
 * wrong.
 */
#ifndef PACK_CHAINS_H
#define PACK_CHAINS_H

#include <stdint.h>

#include "base/error.h"
#include "pack/pack.h"
#include "pack/rev.h"

#define PACK_CHAINS_WHOLE UINT32_MAX /* stored whole: no base */

/* Immutable once made; threads may share it. All arrays are owned. */
struct pack_chains {
	const struct pack *pack; /* borrowed */
	struct pack_rev rev;     /* computed, owned */
	uint32_t nr;             /* number of objects */
	/* by pack_pos: pack_pos of the base, or PACK_CHAINS_WHOLE */
	uint32_t *base;
	/* by pack_pos: deltas to apply, 0 if whole */
	uint32_t *depth;
	/* by pack_pos: type of the object, never a delta type */
	uint8_t *type;
	/* pack_pos of deltas, grouped by base */
	uint32_t *children;
	/*
	 * the children of p are [child_first[p], child_first[p + 1]) of
	 * `children`
	 */
	uint32_t *child_first;
	/* all pack_pos, bases first; whole objects are the first whole_nr */
	uint32_t *order;
	uint32_t whole_nr;
	uint32_t depth_max;
};

/*
 * Reads the headers of all entries. Returns 0, ERR_CORRUPT or ERR_NOMEM; after
 * an error *chains is zeroed. The pack is corrupt if a header is malformed, if
 * a base is not in the pack, or if a delta chain is a cycle. It is also corrupt
 * if the offsets are not distinct or do not start directly after the pack's
 * header.
 */
int pack_chains_init(struct pack_chains *chains, const struct pack *pack,
		     struct error *err);
void pack_chains_release(struct pack_chains *chains);

#endif
