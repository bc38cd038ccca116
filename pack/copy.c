/* SPDX-License-Identifier: MIT */
/* Copies entries of a stored pack into a new pack, as they are. */
#include "pack/copy.h"
#include "pack/inflate.h"
#include "sys/io.h"

/*
 * The number of bytes to copy at a time: 16 full packets of a side band. The
 * bytes are hashed and then written, and should be in the CPU cache both times.
 */
#define PIECE_MAX ((size_t)16 * 65515)

/*
 * pack_copy_open() opens the pack's file again only if at least this number of
 * bytes is to be copied.
 */
#define FILE_MIN ((size_t)1 << 20)

/*
 * The number of mapped bytes to release at a time, so that a clone does not
 * keep the whole pack in memory.
 */
#define DROP_MIN ((size_t)8 << 20)

int pack_copy_open(struct pack_copy *copy, const struct pack *pack,
		   const struct pack_writer *writer, uint64_t bytes,
		   struct error *err)
{
	bool by_file = writer->sink.put_file && bytes >= FILE_MIN;

	*copy = (struct pack_copy){
		.pack = pack,
		.fd = by_file ? pack_open_file(pack) : -1,
		.checked = UINT64_MAX,
		.is_pinned = writer->sink.put_pinned && pack->is_pinned,
	};
	if (!writer->check_copies || !pack->idx.crcs)
		return 0;
	copy->rev = pack_get_rev((struct pack *)(uintptr_t)pack, err);
	return copy->rev ? 0 : ERR_NOMEM;
}

void pack_copy_close(struct pack_copy *copy)
{
	sys_close(copy->fd);
	copy->fd = -1;
}

static void drop_behind(struct pack_copy *copy, uint64_t until)
{
	if (copy->pack->keeps_pages || copy->is_pinned ||
	    until - copy->dropped < DROP_MIN)
		return;
	sys_held_drop(&copy->pack->file, (size_t)copy->dropped,
		      (size_t)(until - copy->dropped));
	copy->dropped = until;
}

static int damaged(const struct pack_copy *copy, struct error *err)
{
	const struct pack *pack = copy->pack;
	uint32_t idx_pos = pack_rev_idx_pos(copy->rev, copy->pack_pos);
	char hex[OID_MAX_HEX_LEN + 1];

	oid_raw_to_hex(hex, pack_idx_oid(&pack->idx, idx_pos), pack->algo);
	return error_set_at(err, ERR_CORRUPT, pack->path,
			    pack_rev_offset(copy->rev, copy->pack_pos),
			    "object %s is damaged: its CRC is not that of the "
			    "index",
			    hex);
}

/*
 * Begins to compute the CRC of an entry. Copying begins at offset `at` of the
 * pack, inside the entry. The CRC includes the bytes of the entry before `at`.
 */
static void begin_entry(struct pack_copy *copy, uint32_t pack_pos, uint64_t at)
{
	uint64_t start = pack_rev_offset(copy->rev, pack_pos);

	copy->pack_pos = pack_pos;
	copy->crc = pack_crc32(0, copy->bytes + start, (size_t)(at - start));
	copy->entry_end = pack_rev_offset(copy->rev, pack_pos + 1);
}

/*
 * Adds the next `len` copied bytes, at offset `at` of the pack, to the CRCs of
 * the entries that they belong to. Compares the CRC of each entry that ends in
 * these bytes with its CRC in the pack index. Returns 0 or ERR_CORRUPT.
 */
static int check(struct pack_copy *copy, const uint8_t *bytes, uint64_t at,
		 uint64_t len, struct error *err)
{
	const struct pack_rev *rev = copy->rev;
	uint64_t end = at + len;
	uint32_t pack_pos;

	if (at != copy->checked) {
		if (!pack_rev_find_entry(rev, at, &pack_pos))
			return error_set_at(err, ERR_CORRUPT, copy->pack->path,
					    at, "no object is here");
		begin_entry(copy, pack_pos, at);
	}
	while (at < end) {
		uint64_t until = copy->entry_end < end ? copy->entry_end : end;

		copy->crc = pack_crc32(copy->crc, bytes, (size_t)(until - at));
		bytes += until - at;
		at = until;
		if (at < copy->entry_end)
			break;
		if (copy->crc !=
		    pack_idx_crc(&copy->pack->idx,
				 pack_rev_idx_pos(rev, copy->pack_pos)))
			return damaged(copy, err);
		if (at < rev->end)
			begin_entry(copy, copy->pack_pos + 1, at);
	}
	copy->checked = end;
	return 0;
}

static int put_piece(const struct pack_copy *copy, struct pack_writer *writer,
		     const struct sys_file_span *piece, struct error *err)
{
	if (copy->is_pinned)
		return pack_writer_put_pinned(writer, piece->bytes, piece->len,
					      err);
	return piece->fd < 0
		       ? pack_writer_put(writer, piece->bytes, piece->len, err)
		       : pack_writer_put_file(writer, piece, err);
}

/* Returns the number of bytes to copy next, of the `left` bytes that remain. */
static size_t piece_len(const struct pack_copy *copy,
			const struct pack_writer *writer, uint64_t left)
{
	/*
	 * The bytes of a pinned pack stay mapped until they are sent. They are
	 * passed on as one piece if this process need not read them. It need
	 * not hash them if the new pack's checksum is already known
	 * (has_checksum), and need not check the CRCs of entries if `rev` is
	 * NULL. Other bytes are copied in small pieces, so that a piece is
	 * still in the CPU cache when it is written after hashing.
	 */
	bool is_unread = copy->is_pinned && writer->has_checksum && !copy->rev;

	return left < PIECE_MAX || is_unread ? (size_t)left : PIECE_MAX;
}

int pack_copy_put(struct pack_copy *copy, struct pack_writer *writer,
		  uint64_t start, uint64_t end, struct error *err)
{
	const struct pack *pack = copy->pack;
	const uint8_t *bytes = pack_bytes(pack, err);

	if (!bytes)
		return error_recorded(err, ERR_IO);
	copy->bytes = bytes;
	if (start > end || (start < end && end > pack->file.len))
		return error_set_at(err, ERR_CORRUPT, pack->path, start,
				    "objects are not in the order of the pack");
	while (start < end) {
		struct sys_file_span piece = {
			.bytes = bytes + start,
			.len = piece_len(copy, writer, end - start),
			.fd = copy->fd,
			.off = start,
		};
		int ret = copy->rev ? check(copy, piece.bytes, start, piece.len,
					    err)
				    : 0;

		if (!ret)
			ret = put_piece(copy, writer, &piece, err);
		if (ret < 0)
			return ret;
		start += piece.len;
		drop_behind(copy, start);
	}
	return 0;
}
