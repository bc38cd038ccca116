/* SPDX-License-Identifier: MIT */
/* Copying bytes of a stored pack. */
#include "pack/copy.h"
#include "sys/io.h"

/*
 * Bytes to copy at a time. They are hashed, then written, and should still be
 * in the CPU cache then.
 */
#define PIECE_MAX ((size_t)512 << 10)

/* Bytes from which on the file is opened again. */
#define FILE_MIN ((size_t)1 << 20)

/* Pages to release at a time, so that a clone does not hold the whole pack. */
#define DROP_MIN ((size_t)8 << 20)

void pack_copy_open(struct pack_copy *copy, const struct pack *pack,
		    const struct pack_writer *writer, uint64_t bytes)
{
	bool by_file = writer->sink.put_file && bytes >= FILE_MIN;

	*copy = (struct pack_copy){
		.pack = pack,
		.fd = by_file ? pack_open_file(pack) : -1,
	};
}

void pack_copy_close(struct pack_copy *copy)
{
	sys_close(copy->fd);
	copy->fd = -1;
}

static void drop_behind(struct pack_copy *copy, uint64_t until)
{
	if (until - copy->dropped < DROP_MIN)
		return;
	sys_held_drop(&copy->pack->file, (size_t)copy->dropped,
		      (size_t)(until - copy->dropped));
	copy->dropped = until;
}

int pack_copy_put(struct pack_copy *copy, struct pack_writer *writer,
		  uint64_t start, uint64_t end, struct error *err)
{
	const struct pack *pack = copy->pack;
	const uint8_t *bytes = pack_bytes(pack, err);

	if (!bytes)
		return error_recorded(err, ERR_IO);
	if (start > end || (start < end && end > pack->file.len))
		return error_set_at(err, ERR_CORRUPT, pack->path, start,
				    "objects are not in the order of the pack");
	while (start < end) {
		uint64_t left = end - start;
		struct sys_file_span piece = {
			.bytes = bytes + start,
			.len = left < PIECE_MAX ? (size_t)left : PIECE_MAX,
			.fd = copy->fd,
			.off = start,
		};
		int ret = piece.fd < 0
				  ? pack_writer_put(writer, piece.bytes,
						    piece.len, err)
				  : pack_writer_put_file(writer, &piece, err);

		if (ret < 0)
			return ret;
		start += piece.len;
		drop_behind(copy, start);
	}
	return 0;
}
