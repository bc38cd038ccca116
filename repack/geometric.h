/* SPDX-License-Identifier: MIT */
/*
 * `git repack --geometric`: choosing the packs that are put into one, and their
 * objects. geometry.h has the arithmetic, rollup.h the objects.
 */
#ifndef REPACK_GEOMETRIC_H
#define REPACK_GEOMETRIC_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "packs/old-packs.h"
#include "packs/pack-job.h"

/*
 * Decide how many of the smallest packs to put into one, so that the numbers of
 * objects of all packs form a geometric progression.
 *
 *	objects     3   5   8  40 100 260        factor 2
 *	           '---------'  |               3+5+8 = 16 <= 40 / 2
 *	            into one   stay
 *
 * `counts`: the number of objects of each pack, ascending. Returns how many
 * packs, from the first on, become one; 0 if the counts already form a
 * progression.
 */
size_t geometric_split(const uint32_t *counts, size_t nr, uint64_t factor);

/*
 * Leave on the list those packs that have to be put into one for the numbers of
 * objects of all packs on it to be a progression by `factor`. Cruft packs, and
 * packs that are not in the snapshot, are taken off first.
 */
int geometric_choose(struct old_packs *old, const struct odb *odb,
		     uint64_t factor, struct error *err);

/*
 * Add the objects of the listed packs, and all loose ones, to the job, but for
 * what other packs of the repository have.
 */
int geometric_collect(struct pack_job *job, const struct old_packs *old,
		      struct error *err);

#endif
