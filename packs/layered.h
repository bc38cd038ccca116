/* SPDX-License-Identifier: MIT */
/*
 * `git repack --write-midx=incremental`: which packs and layers of a chain of
 * multi-pack-indexes a repack leaves alone. The cost of a repack then follows
 * the number of new objects (git-repack(1)).
 *
 *  layers by objects       5000   900 | 260   40   new
 *                          stay         are merged: 40 > 260 / 2 does not
 *                                       hold, but new + 40 > 260 / 2
 *
 * A multi-pack-index that is a single file counts as the only layer.
 */
#ifndef PACKS_LAYERED_H
#define PACKS_LAYERED_H

#include <stdint.h>

#include "base/error.h"
#include "odb/odb-midx.h"
#include "packs/named-packs.h"
#include "packs/old-packs.h"

#define LAYERED_SPLIT_FACTOR 2
#define LAYERED_NEW_LAYER_THRESHOLD 8

/*
 * A geometric repack may merge the listed packs. Take the packs that layers
 * cover off that list. The packs of the top layer stay listed if it has fewer
 * than `threshold`.
 */
void layered_spare(struct old_packs *old, const struct odb *odb,
		   uint64_t threshold);

/*
 * The layer on which a new layer is based: the highest layer of the snapshot's
 * chain such that this layer and all layers below name no leaving pack. NULL:
 * none.
 */
struct odb_midx *layered_base(const struct odb *odb,
			      const struct named_packs *leaving);

/* Whether a layer at or below `top` covers the pack. NULL: no. */
bool layered_covers(const struct odb *odb, const struct odb_midx *top,
		    const struct pack *pack);

/*
 * The lowest of the layers that `top` is merged with; `top` itself if there is
 * none. A layer is merged if it has less than `factor` times the objects of all
 * layers above it together.
 */
struct odb_midx *layered_lowest(struct odb_midx *top, uint64_t factor);

#endif
