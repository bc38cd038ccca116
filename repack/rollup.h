/* SPDX-License-Identifier: MIT */
/*
 * The objects of some packs, and loose ones, without regard to what reaches
 * them, and on demand what they reach: what `pack-objects --stdin-packs` and
 * `repack --geometric` pack.
 */
#ifndef REPACK_ROLLUP_H
#define REPACK_ROLLUP_H

#include <stdbool.h>

#include "base/error.h"
#include "packs/pack-job.h"

/* What becomes of a pack. */
enum rollup_part {
	ROLLUP_UNLISTED, /* says nothing */
	ROLLUP_INCLUDE,  /* its objects are packed, */
	ROLLUP_EXCLUDE,  /* but for those that such a pack has, */
	ROLLUP_OPEN,     /* or such a one, which may reach more; see `follow` */
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
	/*
	 * What these packs reach as well, unless an excluded one has it, as far
	 * as it is there: the pack is then closed up to the excluded ones. Of
	 * ROLLUP_OPEN packs what they reach is asked for too; if there are any,
	 * then nothing is looked for behind objects of ROLLUP_EXCLUDE ones.
	 */
	bool follow;
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
 * history is walked, unless `follow` says so.
 */
int rollup_add(struct pack_job *job, const struct rollup_options *options,
	       struct error *err);

#endif
