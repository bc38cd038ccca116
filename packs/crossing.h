/* SPDX-License-Identifier: MIT */
/*
 * Counts stored deltas that cross the delta islands of references. A delta
 * crosses an island if its target is in the island, but its base is not. If a
 * client clones this island, the server cannot send the delta as it is stored.
 * A repack with delta islands leaves crossing deltas only in packs that it
 * keeps. Later, new references can cause further crossing deltas.
 */
#ifndef PACKS_CROSSING_H
#define PACKS_CROSSING_H

#include <stdint.h>

#include "base/error.h"
#include "refs/refs.h"
#include "walk/walk.h"

struct crossing_report {
	/* number of islands; 0: pack.island puts no reference into one */
	uint32_t island_nr;
	/* number of objects that are in an island */
	uint32_t object_nr;
	/* number of deltas in all packs of the snapshot */
	uint32_t delta_nr;
	/*
	 * number of deltas that cross an island: the target (the object that
	 * the delta makes) is in the island, but the base is not
	 */
	uint32_t crossing_nr;
};

/*
 * Count the deltas in all packs of walk->odb, and those of them that cross an
 * island. `found` is the result of walk_enumerate() for all references, made
 * with the option keep_lists. If pack.island is not set, no pack is read, and
 * all numbers in *report are 0. A reference to a missing object is ignored, and
 * need not be among the tips of `found`. Cost: the islands of all objects are
 * marked, and the header of each packed object is read. Returns 0 or a negative
 * error code.
 */
int crossing_count(struct crossing_report *report, struct walk *walk,
		   const struct walk_result *found, struct refs *refs,
		   struct error *err);

#endif
