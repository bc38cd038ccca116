/* SPDX-License-Identifier: MIT */
/*
 * The delta chains of a pack: which object is made from which, how deep.
 *
 * Read from entry headers only; nothing is inflated. The objects that are
 * made, directly or not, from one whole object are its family; families are
 * independent of each other, so that threads can share them out.
 *
 * Offsets are sorted anew: a .rev file is not relied on here.
 */
#ifndef PACK_CHAINS_H
#define PACK_CHAINS_H

#include <stdint.h>

#include "base/error.h"
#include "pack/pack.h"
#include "pack/rev.h"

#define PACK_CHAINS_WHOLE UINT32_MAX /* stored whole: has no base */

/* Immutable once made; threads may share it. All arrays are owned. */
struct pack_chains {
	const struct pack *pack; /* borrowed */
	struct pack_rev rev;     /* computed; owned */
	uint32_t nr;             /* objects */
	uint32_t *base;          /* by pack_pos: its base's pack_pos, or
				    PACK_CHAINS_WHOLE */
	uint32_t *depth;         /* by pack_pos: deltas to apply, 0 if whole */
	uint8_t *type;           /* by pack_pos: the object's, never a delta */
	uint32_t *children;      /* pack_pos of deltas, grouped by base ... */
	uint32_t *child_first;   /* ... of p: [child_first[p],
				    child_first[p + 1]) in there */
	uint32_t *order;         /* all pack_pos, bases first; the first
				    whole_nr are the whole objects */
	uint32_t whole_nr;
	uint32_t depth_max;
};

/*
 * Read the headers of all entries. ERR_CORRUPT when one is malformed, when
 * offsets are not those of distinct entries from the first byte after the
 * pack's header on, when a base is not an object of this pack, or when a
 * chain has no end; ERR_NOMEM. On failure *chains is zeroed.
 */
int pack_chains_init(struct pack_chains *chains, const struct pack *pack,
		     struct error *err);
void pack_chains_release(struct pack_chains *chains);

#endif
