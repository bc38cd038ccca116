/* SPDX-License-Identifier: MIT */
/*
 * The bitmap index of a multi-pack-index that is being written, or of a pack
 * that is there.
 *
 * Its commits are what references reach, as far as they are covered: a tip that
 * came later, or is loose, has no bit and is left out. What the others reach
 * has to be covered.
 */
#ifndef MIDX_MULTI_PACK_BITMAP_H
#define MIDX_MULTI_PACK_BITMAP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "bitmap/space.h"
#include "pack-bitmap.h"
#include "packs/newpack.h"
#include "refs/refs.h"

/* All borrowed for the call. */
struct multi_pack_bitmap_request {
	const struct bitmap_space *space; /* of the new multi-pack-index, or
					     of a pack */
	struct refs *refs;
	/*
	 * A file of tips to use instead of references'
	 * (git-multi-pack-index(1),
	 * --refs-snapshot), read when it is needed; or NULL.
	 */
	const char *refs_snapshot;
	const struct newpack_options *options;
	/*
	 * Of a layer of a chain: the index of the layers below. Only commits
	 * that are new are walked, and the bitmaps below are used where they
	 * are. NULL: none, or `space` has no layers below.
	 *
	 * With `compacts` that of the layers which become one and of those
	 * below: their bitmaps are taken over, and no references are looked at.
	 */
	const struct pack_bitmap *below;
	bool compacts;
	bool afresh; /* from objects alone: what an older index says may be
			what is to be put right */
};

/* What was made. */
struct multi_pack_bitmap_report {
	uint32_t bitmap_nr;
	uint32_t pseudo_merge_nr;
	struct error warning; /* of the configuration; code 0: none */
};

/*
 * Append the bytes of the bitmap index to *out. ERR_MISSING, with a message
 * that names it, when an object that is needed is not covered; ERR_INVALID in a
 * shallow repository, or for configuration; or another error.
 */
int multi_pack_bitmap_make(struct buf *out,
			   struct multi_pack_bitmap_report *report,
			   const struct multi_pack_bitmap_request *request,
			   struct error *err);

/*
 * Write the bitmap index of a local pack that is there, in place of one that it
 * may have, afresh. As multi_pack_bitmap_make(); nothing was written on
 * failure.
 */
int multi_pack_bitmap_write_pack(struct multi_pack_bitmap_report *report,
				 const struct odb *odb,
				 const struct odb_pack *pack, struct refs *refs,
				 const struct newpack_options *options,
				 struct error *err);

#endif
