/* SPDX-License-Identifier: MIT */
/*
 * Reads a whole object of a pack in pieces, for blobs that should not be in
 * memory as a whole (core.bigFileThreshold).
 */
#ifndef PACK_PIECES_H
#define PACK_PIECES_H

#include "pack/inflate.h"
#include "pack/pack.h"

/*
 * Passes the bytes of the entry at `offset` to `fn`, from first to last. *entry
 * is the header, parsed by pack_entry_at(); it must not be a delta. A nonzero
 * result of `fn` stops and is returned. Otherwise returns 0, or ERR_CORRUPT,
 * with pack and offset in the message, if the entry does not inflate to its
 * size. `fn` may have received all bytes by then.
 */
int pack_pieces(const struct pack *pack, uint64_t offset,
		const struct pack_entry *entry, struct inflater *inf,
		int (*fn)(void *ctx, const void *bytes, size_t len,
			  struct error *err),
		void *ctx, struct error *err);

#endif
