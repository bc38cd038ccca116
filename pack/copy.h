/* SPDX-License-Identifier: MIT */
/*
 * Copies bytes of a stored pack into a new pack. The bytes are copied in
 * pieces, so that each piece is in the CPU cache when it is hashed and when it
 * is written.
 *
 * If the sink supports put_file(), bytes go from the file to the sink directly.
 * A pinned pack stays open and mapped until each response that uses it was sent
 * (is_pinned in pack/pack.h). If the pack is pinned and the sink supports
 * put_pinned(), the sink may send the bytes later. The mapped pages of copied
 * bytes are released, except if pack->keeps_pages is set or the sink may send
 * the bytes later.
 */
#ifndef PACK_COPY_H
#define PACK_COPY_H

#include <stdint.h>

#include "base/error.h"
#include "pack/pack.h"
#include "pack/writer.h"

struct pack_copy {
	const struct pack *pack; /* borrowed */
	/*
	 * borrowed: all bytes of the mapped pack; set while a range is copied
	 */
	const uint8_t *bytes;
	/* owned: a descriptor of the pack's file, or -1 */
	int fd;
	/*
	 * true: the sink gets the bytes by put_pinned(), and may still use them
	 * after the call
	 */
	bool is_pinned;
	/* mapped pages before this offset in the pack were released */
	uint64_t dropped;
	/*
	 * Borrowed: the order of entries, for the comparison with CRCs; NULL:
	 * entries are not compared.
	 */
	const struct pack_rev *rev;
	/*
	 * State of the comparison of copied entries with their CRCs:
	 *   pack_pos   the entry that is being copied
	 *   checked    offset up to which bytes were copied
	 *   crc        CRC of the entry's bytes before `checked`
	 *   entry_end  offset at which the entry ends
	 * If the next range does not begin at `checked`, entries or a header
	 * were skipped, and the state is computed anew.
	 */
	uint32_t pack_pos, crc;
	uint64_t checked, entry_end;
};

/*
 * Begins to copy about `bytes` bytes of `pack`. If `bytes` is large and the
 * writer's sink can take bytes from a file, opens the .pack file again. If
 * writer->check_copies is set, entries are compared with the CRCs of the pack
 * index, if the index has CRCs. Returns 0 or ERR_NOMEM. The caller closes *copy
 * in any case.
 */
int pack_copy_open(struct pack_copy *copy, const struct pack *pack,
		   const struct pack_writer *writer, uint64_t bytes,
		   struct error *err);
void pack_copy_close(struct pack_copy *copy);

/*
 * Copies the bytes [start, end) of the pack; the range may be empty. Returns 0,
 * ERR_CORRUPT if the range is not in the pack or an entry is damaged, or an
 * error of pack_bytes() or the writer.
 *
 * The bytes are copied in pieces. Before a piece is written, the CRC of each
 * entry that ends in the piece is checked. If an entry is damaged, the piece
 * with the end of this entry is not written. Earlier pieces, which may have the
 * start of the entry, were written already. So the output never has all bytes
 * of a damaged entry.
 */
int pack_copy_put(struct pack_copy *copy, struct pack_writer *writer,
		  uint64_t start, uint64_t end, struct error *err);

#endif
