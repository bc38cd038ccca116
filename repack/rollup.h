/* SPDX-License-Identifier: MIT */
/*
 * Lists the objects of given packs and loose objects, whether reachable or not,
 * and optionally the objects that these reach. `pack-objects --stdin-packs` and
 * `repack --geometric` pack this list.
 */
#ifndef REPACK_ROLLUP_H
#define REPACK_ROLLUP_H

#include <stdbool.h>

#include "base/error.h"
#include "packs/pack-job.h"

/* The part of a pack in the rollup. Of two parts, the later one counts. */
enum rollup_part {
	ROLLUP_UNLISTED, /* ignored */
	ROLLUP_INCLUDE,  /* its objects are packed, */
	/* unless such a pack has them, */
	ROLLUP_EXCLUDE,
	/*
	 * or unless such a pack has them. Such a pack need not be closed: with
	 * `follow`, objects that it reaches are packed as well.
	 */
	ROLLUP_OPEN,
	/* its loose copies are not packed */
	ROLLUP_SUFFICE,
};

struct rollup_options {
	/* one per pack of the snapshot; borrowed */
	const enum rollup_part *parts;
	/*
	 * Pack loose objects of the repository too, even if a ROLLUP_UNLISTED
	 * pack has them. Such a pack may be a cruft pack. An object there that
	 * becomes reachable again must not depend on the cruft pack's times.
	 */
	bool loose;
	/*
	 * Also pack the objects that ROLLUP_INCLUDE and ROLLUP_OPEN packs
	 * reach, unless an excluded pack has them. Missing objects are ignored.
	 * The new pack and the excluded packs are then closed together. If
	 * there are ROLLUP_OPEN packs, the walk stops at objects of
	 * ROLLUP_EXCLUDE packs.
	 */
	bool follow;
};

/*
 * Set the part of the pack `name` ("pack-<hex>.pack"). If the pack has a part
 * already, the one that is later in enum rollup_part counts. Returns 0,
 * ERR_MISSING if there is no pack of this name, or with `once` ERR_INVALID if
 * the pack has another part already.
 */
int rollup_mark(enum rollup_part *parts, const struct odb *odb,
		const char *name, enum rollup_part part, bool once,
		struct error *err);

/*
 * Add the objects to the job's items, each object once, unless the job's
 * options leave them out. Packs are read newest first, each in its own order.
 * Path hashes are computed from the trees among the objects. No history is
 * walked without `follow`. Returns 0 or a negative error code.
 */
int rollup_add(struct pack_job *job, const struct rollup_options *options,
	       struct error *err);

#endif
