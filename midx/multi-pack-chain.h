/* SPDX-License-Identifier: MIT */
/*
 * Writes chains of multi-pack-indexes (odb/odb-midx.h). multi_pack_append()
 * adds a layer that covers new packs. The cost of multi_pack_append() depends
 * on the new packs, not on the size of the repository. multi_pack_compact()
 * merges several layers into one.
 *
 * The files of a layer are installed and durable before the chain file names
 * them. The chain file is replaced atomically. After that, files that the chain
 * no longer names are removed. Writers hold two locks: that of
 * multi-pack-lock.h and, as stock Git does, the lock file
 * "multi-pack-index-chain.lock". A single multi-pack-index that is not a layer
 * yet becomes the lowest layer.
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
	 * A layer of the chain, as the snapshot of packs (`odb` below) has it.
	 * The new layer is put directly on top of this layer. Layers above
	 * `base` leave the chain. NULL: the new layer is the lowest.
	 *
	 * A bitmap index of the new layer needs the types of all objects in
	 * lower layers. So with a bitmap index, multi_pack_append() chooses a
	 * lower base if necessary: the highest layer that has a bitmap index,
	 * and below which all layers have one.
	 *
	 * multi_pack_append() hashes the file of `base`. If the file does not
	 * match its checksum, the next lower layer is the base.
	 */
	struct odb_midx *base;
	/* Install the files of the layer, but do not change the chain file. */
	bool no_chain_file;
};

/*
 * Write a layer of the packs that the options select and that no lower layer
 * covers. Returns 0 if the layer was written. Returns 1 if nothing was
 * written: there are no packs to cover, or all their objects are in lower
 * layers. Otherwise returns a negative error code of multi_pack_write(), or
 * ERR_IO if another process replaced the chain after the snapshot was taken.
 */
int multi_pack_append(struct multi_pack_result *result, const struct odb *odb,
		      const struct multi_pack_options *options,
		      const struct multi_pack_layer_options *layer,
		      struct error *err);

/*
 * Write one layer that replaces the layers from `from` up to `to` of the
 * snapshot's chain. The new layer is on top of layer->base: usually from->base,
 * or a lower layer.
 *
 * If layer->base is from->base, the layers above `to` stay in the chain.
 *
 * If layer->base is a lower layer, the layers between layer->base and `from`
 * leave the chain. The new layer does not cover the packs of these layers. So
 * no layer covers these packs any more; the packs themselves stay. The layers
 * above `to` leave the chain, too. The reason: the bits of a layer are numbered
 * after the objects of all layers below. If layers below are missing, the same
 * bit numbers stand for other objects, and the bitmaps of the layers above `to`
 * would be wrong.
 *
 * The new bitmap index copies the bitmaps of the replaced layers. If the
 * replaced layers have no bitmaps, or layer->base is lower than from->base, the
 * bitmaps are computed from objects. If options->bitmap is NULL, no bitmap
 * index is written. The options' packs and preferred pack are ignored.
 *
 * Returns 0 or a negative error code of multi_pack_append(). Also returns
 * ERR_UNSUPPORTED if midx.version is 1 ("cannot perform MIDX compaction with v1
 * format"). Also returns ERR_INVALID if options->bitmap is set but the layers
 * below have no bitmap index.
 */
int multi_pack_compact(struct multi_pack_result *result, const struct odb *odb,
		       const struct multi_pack_options *options,
		       struct odb_midx *from, struct odb_midx *to,
		       const struct multi_pack_layer_options *layer,
		       struct error *err);

/*
 * Returns the layer of the chain that has this checksum, or NULL if there is
 * none.
 */
struct odb_midx *multi_pack_find_layer(const struct odb *odb, size_t dir_nr,
				       const struct oid *checksum);

#endif
