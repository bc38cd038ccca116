/* SPDX-License-Identifier: MIT */
/*
 * Writing chains of multi-pack-indexes (odb/odb-midx.h): a layer for packs
 * that are new, in time that follows these and not what is there; and one
 * layer for several.
 *
 * Files of a layer are in place and durable before the chain names it; the
 * chain is replaced at once; only then goes what it does not name any more.
 * Writers exclude each other, and stock Git's, by the lock file
 * "multi-pack-index-chain.lock". A multi-pack-index that is no layer yet
 * becomes the lowest one.
 */
#ifndef MIDX_MULTI_PACK_CHAIN_H
#define MIDX_MULTI_PACK_CHAIN_H

#include <stdbool.h>

#include "base/error.h"
#include "midx/multi-pack.h"
#include "object/oid.h"
#include "odb/odb-midx.h"

struct multi_pack_layer_options {
	/*
	 * The layer of the snapshot that it goes on top of; those above that
	 * are no more in the chain. NULL: none. With a bitmap index, append
	 * takes the highest from there down of which all that is below has one,
	 * too: a bit needs its type.
	 */
	struct odb_midx *base;
	bool no_chain_file; /* only put the layer's files into place */
};

/*
 * Write a layer of the packs that the options want and that no layer below
 * covers. Returns 0; 1 when there is no such pack, or all that it has is
 * below: nothing was written. Errors are those of multi_pack_write(), and
 * ERR_IO when the chain has been replaced since the snapshot.
 */
int multi_pack_append(struct multi_pack_result *result, const struct odb *odb,
		      const struct multi_pack_options *options,
		      const struct multi_pack_layer_options *layer,
		      struct error *err);

/*
 * Write one layer in place of those from `from` up to `to` of the snapshot's
 * chain, on top of layer->base: from->base as a rule, or one below. What is
 * above `to` stays as it is; on top of another base it leaves the chain with
 * what is between, because its bits would be those of other objects. The new
 * layer's bitmap index takes theirs over, or where they have none, or stood
 * elsewhere, is made of its own; without options->bitmap it gets none. Of the
 * options packs and their preference are not looked at. As
 * multi_pack_append(), but for 1; ERR_UNSUPPORTED for midx.version 1 ("cannot
 * perform MIDX compaction with v1 format"), and ERR_INVALID for a bitmap index
 * where the layers below have none.
 */
int multi_pack_compact(struct multi_pack_result *result, const struct odb *odb,
		       const struct multi_pack_options *options,
		       struct odb_midx *from, struct odb_midx *to,
		       const struct multi_pack_layer_options *layer,
		       struct error *err);

/* The layer of the chain with a checksum; NULL: there is none. */
struct odb_midx *multi_pack_find_layer(const struct odb *odb, size_t dir_nr,
				       const struct oid *checksum);

#endif
