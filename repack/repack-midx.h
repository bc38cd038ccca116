/* SPDX-License-Identifier: MIT */
/*
 * Writes the multi-pack-index of `git repack --write-midx`: one of all packs
 * that stay, or a layer of the new packs (packs/layered.h). This happens after
 * all new packs are installed and before anything is removed.
 */
#ifndef REPACK_REPACK_MIDX_H
#define REPACK_REPACK_MIDX_H

#include <stdbool.h>

#include "base/error.h"
#include "packs/newpack.h"
#include "packs/old-packs.h"
#include "refs/refs.h"
#include "repack/repack.h"

/* All pointers are borrowed. */
struct repack_midx_request {
	const struct repo *repo;
	struct refs *refs;
	const struct newpack_options *newpack;
	/* packs to leave out; NULL: none */
	const struct old_packs *leaving;
	/*
	 * The preferred pack. NULL: the pack with most objects, so that the
	 * first bits of a geometric progression stay the same from one repack
	 * to the next.
	 */
	const struct oid *preferred;
	bool bitmap;
	/*
	 * The bitmap was not asked for explicitly: if it cannot be written,
	 * write the multi-pack-index without it.
	 */
	bool bitmap_is_default;
	/*
	 * Always cover cruft packs. Otherwise cruft packs are covered only if
	 * the bitmap index needs them.
	 */
	bool must_contain_cruft;
	/* write a layer of packs that no layer covers */
	bool layers;
	/*
	 * With `layers`: leave kept packs out of a new layer, unless the bitmap
	 * index needs them. `keep_packs` lists more packs that are kept.
	 */
	bool leave_kept;
	const struct named_packs *keep_packs; /* NULL: none */
	/*
	 * With `layers`: merge layers afterwards by this factor. 0: do not
	 * merge.
	 */
	uint64_t split_factor;
};

/*
 * Write the multi-pack-index of a new snapshot of the repository. If there are
 * alternates and the packs are not closed under reachability, no bitmap index
 * is written, and a warning says so. If packs of the snapshot are removed
 * meanwhile, start again with a newer snapshot. Store pack and bitmap counts
 * and a warning in *result. With a bitmap index, the bitmap indexes of single
 * packs are removed, as stock Git does, because no reader would use them.
 * Without packs nothing is written. Returns 0 or a negative error code.
 */
int repack_midx_write(struct repack_result *result,
		      const struct repack_midx_request *request,
		      struct error *err);

#endif
