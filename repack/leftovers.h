/* SPDX-License-Identifier: MIT */
/*
 * The options of `git pack-objects` for unreachable objects: add them to the
 * pack, make them loose, or write a cruft pack.
 *
 * `git repack` has its own steps for this (repack/repack.h), because it knows
 * more about the packs that it removes.
 */
#ifndef REPACK_LEFTOVERS_H
#define REPACK_LEFTOVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "packs/pack-job.h"
#include "repack/rollup.h"
#include "repack/unreachable.h"

/*
 * List in *u the local objects that the enumeration of `job` did not reach. The
 * job must have been run with `note_reached`. Objects that `expiry` keeps are
 * marked; see unreachable_keep(). All packs are treated as about to be removed,
 * except packs with .keep and packs in the job's keep_packs. Returns 0 or a
 * negative error code. The caller releases *u in any case.
 */
int leftovers_list(struct unreachable *u, struct pack_job *job, int64_t expiry,
		   struct error *err);

/*
 * Append objects of *u to the job's list, unless the job's options leave them
 * out. `packed`: append objects of packs that will be removed. `loose`: append
 * loose objects. A damaged loose object without a packed copy is left out, and
 * u->warn is called. Returns 0 or a negative error code.
 */
int leftovers_add(struct pack_job *job, struct unreachable *u, bool packed,
		  bool loose, struct error *err);

/*
 * List the objects for a cruft pack: loose objects, and objects of the packs
 * that `parts` includes. `parts` has one entry for each pack of the snapshot. A
 * pack that is not included is treated as a pack that stays. An object is not
 * listed if such a pack also has it.
 *
 * Listed objects that `expiry` keeps are marked, as by unreachable_keep():
 * recent objects, and all objects that recent objects reach. The search for
 * reached objects stops at objects of packs that stay, because these objects
 * count as reached. Objects that the job's options leave out are not written,
 * but the search goes through them.
 *
 * The job must be empty before the call. Returns 0 or a negative error code.
 * The caller releases *u in any case.
 */
int leftovers_list_cruft(struct unreachable *u, struct pack_job *job,
			 const enum rollup_part *parts, int64_t expiry,
			 struct error *err);

#endif
