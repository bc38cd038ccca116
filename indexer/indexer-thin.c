/* SPDX-License-Identifier: MIT */
/*
 * Changes a received pack, in one of two ways:
 * - A thin pack is completed. The delta bases that the pack lacks are appended.
 *   They are stored whole, in the order of their ids.
 * - In a broken pack, deltas that could not be resolved are dropped from the
 *   list of objects. Their bytes stay in the file, but belong to no object any
 *   more. So the file can be read only by the offsets in the list, not from
 *   front to back.
 *
 * A base that the pack has is not appended. But sometimes such a base is read
 * from the repository: if the pack stores the base as a delta that is not
 * resolved yet, and the repository has the base too.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "pack/entry.h"
#include "indexer/indexer-parts.h"
#include "sys/io.h"

enum { PIECE = 1 << 20 }; /* bytes to read at a time */

/*
 * Makes the entry of an object that is stored whole: header and zlib stream,
 * in *b. Returns 0 or ERR_NOMEM.
 */
static int make_entry(struct buf *b, struct deflater *def, enum hash_algo algo,
		      enum object_type type, const void *data, size_t len)
{
	struct pack_entry head = {.type = type, .size = len};
	uint8_t header[PACK_ENTRY_HEADER_MAX];
	size_t n = pack_entry_write(header, &head, algo);
	int ret;

	buf_reset(b);
	ret = buf_append(b, header, n);
	return ret < 0 ? ret : deflater_append(def, b, data, len);
}

static int append_base(struct pack_indexer *ix, struct deflater *def,
		       struct buf *b, const struct oid *oid, struct error *err)
{
	const struct pack_indexer_hooks *hooks = &ix->config.hooks;
	enum object_type type;
	void *data;
	size_t len;
	int ret;

	if (ix->nr == UINT32_MAX)
		return error_set(err, ERR_INVALID, "too many objects");
	ret = hooks->base(hooks->ctx, oid, &type, &data, &len, err);
	if (!ret)
		ret = error_set(err, ERR_MISSING,
				"the base of a delta is gone");
	if (ret < 0)
		return ret;
	ret = make_entry(b, def, ix->config.algo, type, data, len);
	free(data);
	if (!ret)
		ret = indexer_add_entry(ix, ix->end, type);
	if (ret < 0)
		return error_nomem(err);
	ix->entries[ix->nr - 1].type = (uint8_t)type;
	ix->entries[ix->nr - 1].crc = pack_crc32(0, b->data, b->len);
	memcpy(indexer_id(ix, ix->nr - 1), oid->bytes,
	       hash_len(ix->config.algo));
	ret = sys_tempfile_write_at(&ix->file, ix->end, b->data, b->len, err);
	ix->end += b->len;
	ix->appended_nr++;
	return ret;
}

static int hash_file(struct pack_indexer *ix, struct hash_ctx *h,
		     uint8_t *piece, struct error *err)
{
	uint64_t off = 0;

	while (off < ix->end) {
		size_t len = ix->end - off < PIECE ? (size_t)(ix->end - off)
						   : PIECE;
		int ret = sys_read_at(ix->fd, piece, len, off, ix->name, err);

		if (ret < 0)
			return ret;
		hash_update(h, piece, len);
		off += len;
	}
	return 0;
}

/*
 * Rewrites the number of objects in the header of the pack, and the checksum
 * at its end. Returns 0 or a negative error code.
 */
static int rewrite_ends(struct pack_indexer *ix, struct error *err)
{
	uint8_t *piece = mem_alloc(PIECE, 1);
	struct hash_ctx h = {0};
	uint8_t nr[4];
	int ret;

	if (!piece || hash_init(&h, ix->config.algo) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	store_be32(nr, (uint32_t)ix->nr);
	ret = sys_tempfile_write_at(&ix->file, 8, nr, sizeof(nr), err);
	if (!ret)
		ret = hash_file(ix, &h, piece, err);
	if (ret < 0)
		goto out;
	hash_final(&h, &ix->checksum);
	ret = sys_tempfile_write_at(&ix->file, ix->end, ix->checksum.bytes,
				    hash_len(ix->config.algo), err);
out:
	hash_release(&h);
	free(piece);
	return ret;
}

int indexer_append_bases(struct pack_indexer *ix, struct error *err)
{
	struct deflater *def = deflater_new(-1);
	struct buf b = BUF_INIT;
	size_t sorted_nr = ix->nr, pos;
	int ret = def ? 0 : error_nomem(err);

	for (size_t i = 0; i < ix->ref_nr && !ret; i++)
		if (ix->refs[i].outside_first != INDEXER_NONE &&
		    !indexer_find_sorted(ix, sorted_nr, &ix->refs[i].base,
					 &pos))
			ret = append_base(ix, def, &b, &ix->refs[i].base, err);
	if (!ret && ix->appended_nr)
		ret = rewrite_ends(ix, err);
	deflater_free(def);
	buf_release(&b);
	return ret;
}

int indexer_drop_broken(struct pack_indexer *ix, struct error *err)
{
	size_t nr = 0;

	if (ix->file.fd < 0)
		return 0;
	for (size_t i = 0; i < ix->nr; i++) {
		if (ix->entries[i].type == OBJ_NONE)
			continue;
		ix->entries[nr] = ix->entries[i];
		memmove(indexer_id(ix, nr), indexer_id(ix, i),
			hash_len(ix->config.algo));
		nr++;
	}
	ix->nr = nr;
	return rewrite_ends(ix, err);
}
