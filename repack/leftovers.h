/* SPDX-License-Identifier: MIT */
/*
 * What `git pack-objects` is told to do with objects besides those that
 * revisions reach: pack them too, make them loose, or, told which packs go,
 * put into a cruft pack what goes with them.
 *
 * `git repack` does the same by steps of its own (repack/repack.h): it knows
 * more about the packs that go.
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
 * List in *u the local objects that the enumeration of `job` (with
 * `note_reached`) did not meet, and mark those that `expiry` keeps (see
 * unreachable_keep()). All packs are about to go but those with .keep and
 * those of the job's keep_packs. Release *u in any case.
 */
int leftovers_list(struct unreachable *u, struct pack_job *job, int64_t expiry,
		   struct error *err);

/*
 * Add objects of such a list to the job, last, unless its options leave them
 * out: with `packed` those of packs that go, with `loose` those that are
 * loose.
 */
int leftovers_add(struct pack_job *job, const struct unreachable *u,
		  bool packed, bool loose, struct error *err);

/*
 * The list for a cruft pack: objects of packs that `parts` (by number of the
 * snapshot's packs) includes, and loose ones, that no other pack has. Others
 * are presumed to stay, listed or not, and what they have ends the search for
 * what recent objects reach. Items that the job's options leave out are
 * marked safe. Nothing else may have been enumerated by the job. Release *u
 * in any case.
 */
int leftovers_list_cruft(struct unreachable *u, struct pack_job *job,
			 const enum rollup_part *parts, int64_t expiry,
			 struct error *err);

#endif
