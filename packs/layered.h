/* SPDX-License-Identifier: MIT */
/*
 * `git repack --write-midx=incremental`: which packs and layers of a chain of
 * multi-pack-indexes a repack leaves alone, so that its cost follows what is
 * new (git-repack(1)).
 *
 *	layers by objects       5000   900 | 260   40   new
 *	                        stay         become one: 40 > 260 / 2 does not
 *	                                     hold, but new + 40 > 260 / 2
 *
 * A file that is no layer yet counts as the only one.
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
 * Take off the list of packs that a geometric repack may put into one those
 * that layers cover, but for the top layer's when it has `threshold` or more.
 */
void layered_spare(struct old_packs *old, const struct odb *odb,
		   uint64_t threshold);

/*
 * The highest layer of the snapshot's chain such that neither it nor one below
 * names a pack that is leaving: what a new layer goes on top of. NULL: none.
 */
struct odb_midx *layered_base(const struct odb *odb,
			      const struct named_packs *leaving);

/*
 * The lowest of the layers that `top` is merged with, which is `top` itself
 * when there is none: each that has less than `factor` times the objects of
 * what is above it, together.
 */
struct odb_midx *layered_lowest(struct odb_midx *top, uint64_t factor);

#endif
