/* SPDX-License-Identifier: MIT */
/*
 * Declarations of two files that git-repack(1) uses. promisor-pack.c packs
 * promised objects. repack-midx.c writes the multi-pack-index.
 */
#ifndef REPACK_REPACK_PARTS_H
#define REPACK_REPACK_PARTS_H

#include <stdbool.h>

#include "base/error.h"
#include "packs/newpack.h"
#include "packs/old-packs.h"
#include "packs/pack-job.h"
#include "refs/refs.h"
#include "repack/repack.h"

/*
 * ---- promisor-pack.c
 *
 * Puts the objects of all promisor packs into a promisor pack of their own. In
 * a partial clone, only the pack shows whether an object was made locally or
 * promised by a remote. So these objects are never mixed with others.
 */

/*
 * Write one pack with all objects of the local promisor packs in *old; with a
 * size limit, several packs. Mark each new pack with an empty .promisor file,
 * and install it. Without promisor packs nothing is done. *nr: the number of
 * objects. The names of the new packs are added to *made. Returns 0 or a
 * negative error code.
 */
int promisor_pack_write(uint32_t *nr, struct strlist *made,
			struct pack_job *job, const struct old_packs *old,
			struct error *err);

/*
 * ---- repack-midx.c
 *
 * Writes the multi-pack-index of `git repack --write-midx`: either a whole
 * multi-pack-index, of all packs that stay, or a new layer, of the new packs
 * (packs/layered.h). This happens after all new packs are installed and before
 * anything is removed.
 */

/*
 * Describes the files that repack_midx_write() writes. All pointers are
 * borrowed.
 */
struct repack_midx_request {
	const struct repo *repo;
	/*
	 * The refs that choose commits for the bitmap index, if the refs of now
	 * cannot: the packs may lack objects of later pushes.
	 */
	struct refs *refs;
	const struct newpack_options *newpack;
	/*
	 * Packs that are about to be removed. The multi-pack-index must not
	 * contain them. NULL: none.
	 */
	const struct old_packs *leaving;
	/*
	 * The preferred pack. NULL: the pack with most objects. Geometric
	 * repacks usually leave this pack as it is, so its objects keep their
	 * bit positions.
	 */
	const struct oid *preferred;
	bool bitmap;
	/*
	 * true: no option asks for the bitmap index; a bitmap index is written
	 * by default. If the bitmap index cannot be written, the
	 * multi-pack-index is written without it.
	 */
	bool bitmap_is_default;
	/*
	 * Put cruft packs into the multi-pack-index. If false, cruft packs are
	 * included only if the bitmap index needs their objects.
	 */
	bool must_contain_cruft;
	/* Write a layer with the packs that are in no layer yet. */
	bool layers;
	/*
	 * With `layers`: leave kept packs out of a new layer, unless the bitmap
	 * index needs them. `keep_packs` lists more packs that are kept.
	 */
	bool leave_kept;
	const struct strlist *keep_packs; /* NULL: none */
	/*
	 * With `layers`: the factor by which layers are merged afterwards. 0:
	 * do not merge.
	 */
	uint64_t split_factor;
};

/*
 * Write the multi-pack-index of a new snapshot of the repository. If packs of
 * the snapshot are removed meanwhile, start again with a newer snapshot.
 * *result receives the counts of packs and bitmaps, and a warning.
 *
 * If there are alternates and the packs are not closed under reachability, no
 * bitmap index is written, and the warning says so. If a bitmap index is
 * written, the bitmap indexes of single packs are removed, as in stock Git:
 * readers would not use them. Without packs nothing is written. Returns 0 or a
 * negative error code.
 */
int repack_midx_write(struct repack_result *result,
		      const struct repack_midx_request *request,
		      struct error *err);

#endif
