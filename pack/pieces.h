/* SPDX-License-Identifier: MIT */
/*
 * Reading what a pack stores whole piece by piece, for blobs that are better
 * not in memory as a whole (core.bigFileThreshold).
 */
#ifndef PACK_PIECES_H
#define PACK_PIECES_H

#include "pack/inflate.h"
#include "pack/pack.h"

/*
 * Hand the bytes of the entry at `offset`, whose header pack_entry_at() parsed
 * into *entry and which is no delta, to `fn` from first to last. A nonzero
 * return of `fn` ends it and is returned. 0; ERR_CORRUPT, with pack and
 * offset in the message, when the entry does not inflate to its size: `fn` may
 * have had all its bytes by then.
 */
int pack_pieces(const struct pack *pack, uint64_t offset,
		const struct pack_entry *entry, struct inflater *inf,
		int (*fn)(void *ctx, const void *bytes, size_t len,
			  struct error *err),
		void *ctx, struct error *err);

#endif
