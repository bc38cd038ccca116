/* SPDX-License-Identifier: MIT */
/*
 * Chooses the packs that `git repack --geometric` merges into one, and lists
 * their objects.
 */
#ifndef REPACK_GEOMETRIC_H
#define REPACK_GEOMETRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "pack/pack-name.h"
#include "packs/old-packs.h"
#include "packs/pack-job.h"

/*
 * Choose how many of the smallest packs to merge into one. Afterwards, the
 * numbers of objects of all packs form a geometric progression.
 *
 *	objects     3   5   8  40 100 260        factor 2
 *	           '---------'  |               3+5+8 = 16 <= 40 / 2
 *	            into one   stay
 *
 * `counts`: the number of objects of each pack, ascending. Returns the number
 * of packs to merge, beginning with the first. Returns 0 if the counts already
 * form a progression.
 */
size_t geometric_split(const uint32_t *counts, size_t nr, uint64_t factor);

/*
 * Add to *chosen the names of the packs to merge, and remove all other packs
 * from the list `old`. After merging, the numbers of objects of all packs form
 * a geometric progression by `factor`. Promisor packs form a progression of
 * their own. With `local`, packs of alternates are not considered. Returns 0,
 * ERR_INVALID if the factor times the objects of the second largest pack
 * exceeds 32 bits, or ERR_NOMEM.
 */
int geometric_choose(struct strlist *chosen, struct old_packs *old,
		     const struct odb *odb, uint64_t factor, bool local,
		     struct error *err);

/*
 * Add to the job the objects of the chosen packs, except promisor packs, and
 * all loose objects. Objects that other packs of the repository have are left
 * out, but not those that only cruft packs have. A loose object is also left
 * out if a pack of an alternate has it. A damaged loose object is left out, and
 * job->warning names it. `removes`: the caller will remove the chosen packs;
 * see struct rollup_options. Returns 0 or a negative error code.
 */
int geometric_collect(struct pack_job *job, const struct strlist *chosen,
		      bool removes, struct error *err);

#endif
