/* SPDX-License-Identifier: MIT */
/*
 * Makes the bitmap index of a multi-pack-index that is being written, or of an
 * existing pack.
 *
 * Only commits that references reach and that the packs cover get bitmaps. A
 * tip that the packs do not cover has no bit and is left out. For example, it
 * is a loose object, or has arrived later. The packs must cover all objects
 * that the remaining tips reach.
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

/*
 * The request to make a bitmap index. All pointers are borrowed for the call.
 */
struct multi_pack_bitmap_request {
	/* the bit space of the new multi-pack-index, or of a pack */
	const struct bitmap_space *space;
	struct refs *refs;
	/*
	 * Path of a file that lists the tips (git-multi-pack-index(1),
	 * --refs-snapshot). The file is read only if needed. NULL: the
	 * references are the tips.
	 */
	const char *refs_snapshot;
	const struct newpack_options *options;
	/*
	 * If the new bitmap index is for a layer of a chain: an existing bitmap
	 * index of the same chain, whose bitmaps are used. The field `compacts`
	 * says which layers `below` covers. NULL: the new bitmap index is not
	 * for a layer, or there are no layers below the new layer.
	 */
	const struct pack_bitmap *below;
	/*
	 * false: `below` covers all layers below the new layer. Only commits
	 * that these layers do not have are walked.
	 *
	 * true: the new layer replaces several layers, which are merged into
	 * it. `below` covers the replaced layers and all layers below these.
	 * `below` is not NULL. Bitmaps of the replaced layers are copied, and
	 * references are not read.
	 */
	bool compacts;
	/*
	 * true: make all bitmaps from objects. The older bitmap index is not
	 * read, because it may be wrong.
	 */
	bool afresh;
};

/* Numbers of bitmaps in the bitmap index that was made, and a warning. */
struct multi_pack_bitmap_report {
	uint32_t bitmap_nr;
	uint32_t pseudo_merge_nr;
	/*
	 * A problem in the configuration of pseudo-merges. Code 0: no warning.
	 */
	struct error warning;
};

/*
 * Append the bytes of the bitmap index to *out. Returns 0, or a negative error
 * code: ERR_MISSING if the packs lack a needed object (the message names the
 * object), ERR_INVALID in a shallow repository or for bad configuration.
 */
int multi_pack_bitmap_make(struct buf *out,
			   struct multi_pack_bitmap_report *report,
			   const struct multi_pack_bitmap_request *request,
			   struct error *err);

/*
 * Write the bitmap index of an existing local pack. All bitmaps are computed
 * from commits and trees. No bitmap is copied from the pack's old bitmap
 * index, which the new bitmap index replaces. Returns the same codes as
 * multi_pack_bitmap_make(). On failure nothing is written.
 */
int multi_pack_bitmap_write_pack(struct multi_pack_bitmap_report *report,
				 const struct odb *odb,
				 const struct odb_pack *pack, struct refs *refs,
				 const struct newpack_options *options,
				 struct error *err);

#endif
