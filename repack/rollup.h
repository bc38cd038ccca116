/* SPDX-License-Identifier: MIT */
/*
 * The objects of some packs, and loose ones, without regard to what reaches
 * them: what `pack-objects --stdin-packs` and `repack --geometric` pack.
 */
#ifndef REPACK_ROLLUP_H
#define REPACK_ROLLUP_H

#include <stdbool.h>

#include "base/error.h"
#include "repack/pack-job.h"

/* What becomes of a pack. */
enum rollup_part {
	ROLLUP_UNLISTED, /* says nothing */
	ROLLUP_INCLUDE,  /* its objects are packed, */
	ROLLUP_EXCLUDE,  /* but for those that such a pack has */
	ROLLUP_SUFFICE,  /* loose ones that it has are not packed */
};

struct rollup_options {
	/* By number of the snapshot's packs. */
	const enum rollup_part *parts;
	/*
	 * Loose objects of the repository too, also where a pack has them of
	 * which nothing was said: one that becomes reachable again must not be
	 * left to a cruft pack's times.
	 */
	bool loose;
};

/*
 * Note what becomes of a pack, "pack-<hex>.pack": ERR_MISSING when there is
 * none of that name, ERR_INVALID when it was said to become something else.
 */
int rollup_mark(enum rollup_part *parts, const struct odb *odb,
		const char *name, enum rollup_part part, struct error *err);

/*
 * Add them to the job's items unless its options leave them out, packs newest
 * first, in the order of each pack;
 * an object that is in several once. Their names are found among them. No
 * history is walked.
 */
int rollup_add(struct pack_job *job, const struct rollup_options *options,
	       struct error *err);

#endif
