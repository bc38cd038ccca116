/* SPDX-License-Identifier: MIT */
/*
 * The delta chains of a pack: the base and the depth of each object.
 *
 * The delta chains are read from entry headers only; no object is inflated. A
 * family is an object that is stored whole and all deltas that are made from
 * it, directly or indirectly. Families are independent of each other, so
 * threads can work on them in parallel.
 *
 * The order of the objects comes from sorting their offsets. A .rev file is not
 * used, because it may be wrong.
 */
#ifndef PACK_CHAINS_H
#define PACK_CHAINS_H

#include <stdint.h>

#include "base/error.h"
#include "pack/pack.h"
#include "pack/rev.h"

#define PACK_CHAINS_WHOLE UINT32_MAX /* stored whole: no base */

/*
 * The delta chains. Immutable once made; threads may share them. All arrays are
 * owned.
 */
struct pack_chains {
	const struct pack *pack; /* borrowed */
	struct pack_rev rev;     /* computed, owned */
	uint32_t nr;             /* number of objects */
	/*
	 * indexed by pack_pos: pack_pos of the object's delta base, or
	 * PACK_CHAINS_WHOLE
	 */
	uint32_t *base;
	/*
	 * indexed by pack_pos: number of deltas to apply to get the object; 0
	 * if the object is stored whole
	 */
	uint32_t *depth;
	/* indexed by pack_pos: the type of the object, never a delta type */
	uint8_t *type;
	/* pack_pos of all deltas, grouped by their base */
	uint32_t *children;
	/*
	 * indexed by pack_pos of a base p: the deltas with this base are
	 * [child_first[p], child_first[p + 1]) of `children`
	 */
	uint32_t *child_first;
	/*
	 * pack_pos of all objects, bases before deltas; the first whole_nr are
	 * stored whole
	 */
	uint32_t *order;
	uint32_t whole_nr;
	uint32_t depth_max;
};

/*
 * Reads the headers of all entries of a pack. Returns 0, ERR_CORRUPT or
 * ERR_NOMEM; after an error *chains is zeroed. The pack is corrupt if a header
 * is malformed, if a base is not in the pack, or if a delta chain is a cycle.
 * The pack is also corrupt if two entries have the same offset, or if the first
 * entry does not directly follow the pack's header.
 */
int pack_chains_init(struct pack_chains *chains, const struct pack *pack,
		     struct error *err);
void pack_chains_release(struct pack_chains *chains);

/*
 * Checks a pack as pack_chains_init() does. Call this before other copies of
 * the pack's objects are removed, or are not copied. To check only a few
 * objects of a pack, call pack_chain_ends(), which costs less. Returns 1 if
 * each object has a delta chain that ends, 0 if the pack is corrupt, or
 * ERR_NOMEM.
 */
int pack_chains_end(const struct pack *pack, struct error *err);

#endif
