/* SPDX-License-Identifier: MIT */
/* Whole objects of packs, in pieces. */
#include "pack/pieces.h"
#include "base/mem.h"

enum { PIECE = 64 << 10 };

static int inflate_all(const struct pack *pack, uint64_t offset,
		       const struct pack_entry *entry, struct inflater *inf,
		       uint8_t *piece,
		       int (*fn)(void *ctx, const void *bytes, size_t len,
				 struct error *err),
		       void *ctx, struct error *err)
{
	const uint8_t *bytes = pack_bytes(pack, NULL);
	const uint8_t *src = bytes + offset + entry->header_len;
	const uint8_t *end = bytes + pack->file.len - hash_len(pack->algo);
	uint64_t total = 0;
	int ended = inflater_start(inf);

	while (!ended) {
		size_t src_len = (size_t)(end - src), dst_len = PIECE;
		int ret;

		ended = inflater_feed(inf, piece, &dst_len, src, &src_len);
		src += src_len;
		total += dst_len;
		if (!src_len && !dst_len && !ended)
			break;
		if (ended < 0 || total > entry->size)
			break;
		ret = dst_len ? fn(ctx, piece, dst_len, err) : 0;
		if (ret)
			return ret;
	}
	if (ended == ERR_NOMEM)
		return error_nomem(err);
	if (ended != 1 || total != entry->size)
		return error_set_at(err, ERR_CORRUPT, pack->path, offset,
				    "object does not inflate to its size");
	return 0;
}

int pack_pieces(const struct pack *pack, uint64_t offset,
		const struct pack_entry *entry, struct inflater *inf,
		int (*fn)(void *ctx, const void *bytes, size_t len,
			  struct error *err),
		void *ctx, struct error *err)
{
	uint8_t *piece = mem_alloc(PIECE, 1);
	int ret = piece ? inflate_all(pack, offset, entry, inf, piece, fn, ctx,
				      err)
			: error_nomem(err);

	free(piece);
	return ret;
}
