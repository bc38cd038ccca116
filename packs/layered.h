/* SPDX-License-Identifier: MIT */
/*
 * Decides which packs and layers `git repack --write-midx=incremental` leaves
 * as they are in a chain of multi-pack-indexes. Large layers stay, so the cost
 * of a repack depends on the number of new objects only (git-repack(1)).
 *
 * A layer is merged with the layers above it if it has less than twice as many
 * objects as all of them together. An example with 100 new objects:
 *
 * objects of layers     5000   900 | 260   40   100
 *                        stay      | 40 < 2 * 100 and 260 < 2 * (40 + 100):
 *                                  | merged; 900 is not < 2 * 400
 *
 * A multi-pack-index that is a single file is treated as a chain of one layer.
 */
#ifndef PACKS_LAYERED_H
#define PACKS_LAYERED_H

#include <stdint.h>

#include "base/error.h"
#include "odb/odb-midx.h"
#include "pack/pack-name.h"
#include "packs/old-packs.h"

#define LAYERED_SPLIT_FACTOR 2
#define LAYERED_NEW_LAYER_THRESHOLD 8

/*
 * Spare the packs that layers of the chain cover: remove them from `old`, the
 * list of packs that a geometric repack may merge. Exception: packs of the top
 * layer stay listed if there are at least `threshold` of them.
 */
void layered_spare(struct old_packs *old, const struct odb *odb,
		   uint64_t threshold);

/*
 * Returns the layer on which a new layer will be put, or NULL if there is none.
 * It is the highest suitable layer of the snapshot's chain. A layer is suitable
 * if neither it nor a layer below it names a pack of `leaving`, the packs about
 * to be removed.
 */
struct odb_midx *layered_base(const struct odb *odb,
			      const struct strlist *leaving);

/*
 * Returns whether `top` or a layer below it covers the pack. `top` NULL: false.
 */
bool layered_covers(const struct odb *odb, const struct odb_midx *top,
		    const struct pack *pack);

/*
 * Returns the lowest of the layers that are merged with `top`, or `top` itself
 * if no layer is merged with it. A layer is merged if it has less than `factor`
 * times the objects of all layers above it together.
 */
struct odb_midx *layered_lowest(struct odb_midx *top, uint64_t factor);

#endif
