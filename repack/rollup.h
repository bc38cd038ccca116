/* SPDX-License-Identifier: MIT */
/*
 * Lists loose objects and the objects of given packs, whether reachable or not;
 * optionally also all objects that the listed objects reach. `pack-objects
 * --stdin-packs` and `repack --geometric` pack this list.
 */
#ifndef REPACK_ROLLUP_H
#define REPACK_ROLLUP_H

#include <stdbool.h>

#include "base/error.h"
#include "packs/pack-job.h"

/*
 * How the objects of a pack are handled. If a pack gets two of these values,
 * the value that comes later in this enum is used.
 */
enum rollup_part {
	ROLLUP_UNLISTED, /* ignored */
	/* objects of the pack are put into the new pack */
	ROLLUP_INCLUDE,
	/*
	 * objects of the pack are not put into the new pack, even if a
	 * ROLLUP_INCLUDE pack has them
	 */
	ROLLUP_EXCLUDE,
	/*
	 * Objects of the pack are not put into the new pack. But the pack need
	 * not be closed under reachability: its objects may refer to objects
	 * that are not in the pack. With the option `follow` (below), the
	 * objects that this pack reaches in other places are put into the new
	 * pack.
	 */
	ROLLUP_OPEN,
	/*
	 * a loose object that this pack has too is not put into the new pack
	 */
	ROLLUP_SUFFICE,
};

struct rollup_options {
	/*
	 * borrowed: for each pack of the snapshot, how its objects are handled
	 */
	const enum rollup_part *parts;
	/*
	 * Also list the repository's loose objects, even those that a
	 * ROLLUP_UNLISTED pack has. Such a pack may be a cruft pack, whose
	 * objects expire and are then deleted. A loose object may be reachable
	 * again, and must not expire.
	 */
	bool loose;
	/*
	 * true: the caller will remove the ROLLUP_INCLUDE packs. An object that
	 * is left out must not appear older afterwards, because an unreachable
	 * object expires by its age. The object stays in a ROLLUP_EXCLUDE or
	 * ROLLUP_OPEN pack. If this pack is older than the newest
	 * ROLLUP_INCLUDE pack, the time of the pack is set to the present. If
	 * the time cannot be set, the object is put into the new pack.
	 */
	bool removes;
	/*
	 * Also list the objects that ROLLUP_INCLUDE and ROLLUP_OPEN packs
	 * reach, unless a ROLLUP_EXCLUDE or ROLLUP_OPEN pack has them. Missing
	 * objects are ignored. The new pack, the ROLLUP_EXCLUDE packs and the
	 * ROLLUP_OPEN packs together are then closed under reachability.
	 *
	 * If there are ROLLUP_OPEN packs, the walk stops at objects of
	 * ROLLUP_EXCLUDE packs, which must then be closed under reachability.
	 * If there are none, the walk also follows the links of these objects.
	 */
	bool follow;
};

/*
 * Set how the objects of the pack `name` ("pack-<hex>.pack") are handled. If a
 * value is set already, the later one in enum rollup_part is used. Returns 0,
 * or ERR_MISSING if there is no pack of this name. With `once`, returns
 * ERR_INVALID if another value is set already.
 */
int rollup_mark(enum rollup_part *parts, const struct odb *odb,
		const char *name, enum rollup_part part, bool once,
		struct error *err);

/*
 * Add the chosen objects to the job's list of objects to pack, each object
 * once. Objects that the job's options leave out are not added. Packs are read
 * newest first, and the objects of each pack in the order of the pack. Path
 * hashes are computed from the trees among the objects. Without `follow`, no
 * history is walked. Returns 0 or a negative error code.
 */
int rollup_add(struct pack_job *job, const struct rollup_options *options,
	       struct error *err);

#endif
