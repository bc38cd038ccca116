/* SPDX-License-Identifier: MIT */
/*
 * Copies bytes of a stored pack into a new pack. The bytes are copied in pieces
 * that are hashed and written while they are in the CPU cache. Copied pages are
 * released. If the sink supports it, bytes go from file to sink directly.
 */
#ifndef PACK_COPY_H
#define PACK_COPY_H

#include <stdint.h>

#include "base/error.h"
#include "pack/pack.h"
#include "pack/writer.h"

struct pack_copy {
	const struct pack *pack; /* borrowed */
	/* owned: a descriptor of the pack's file, or -1 */
	int fd;
	/* pages before this offset are released */
	uint64_t dropped;
	/* Borrowed: for the comparison with CRCs; NULL: none is made. */
	const struct pack_rev *rev;
	/*
	 * The entry that is being copied, its CRC up to `checked`, and its end.
	 * A range that does not continue at `checked` begins with an entry.
	 */
	uint32_t pack_pos, crc;
	uint64_t checked, entry_end;
};

/*
 * Begins to copy about `bytes` bytes. Opens the file again if there are many
 * bytes and the writer's sink can take them from a file. With
 * writer->check_copies, entries are compared with the CRCs of the index, if it
 * has them. Returns 0 or ERR_NOMEM; close in any case.
 */
int pack_copy_open(struct pack_copy *copy, const struct pack *pack,
		   const struct pack_writer *writer, uint64_t bytes,
		   struct error *err);
void pack_copy_close(struct pack_copy *copy);

/*
 * Copies the bytes [start, end) of the pack; the range may be empty. Returns 0,
 * ERR_CORRUPT if the range is not in the pack or an entry is damaged, or an
 * error of pack_bytes() or the writer. If the last entry that the range begins
 * is damaged, its last bytes were not written.
 */
int pack_copy_put(struct pack_copy *copy, struct pack_writer *writer,
		  uint64_t start, uint64_t end, struct error *err);

#endif
