/* SPDX-License-Identifier: MIT */
/*
 * Copying bytes of a stored pack into a new one: in pieces that are hashed and
 * written while they are in the cache, without holding what was copied, and
 * from the file where the sink knows how.
 */
#ifndef PACK_COPY_H
#define PACK_COPY_H

#include <stdint.h>

#include "base/error.h"
#include "pack/pack.h"
#include "pack/writer.h"

struct pack_copy {
	const struct pack *pack; /* borrowed */
	int fd;                  /* owned: of its file; -1: none */
	uint64_t dropped;        /* pages before this offset were let go */
};

/*
 * Begin to copy about `bytes` bytes; the file is opened again where they are
 * many and the writer's sink takes them from there.
 */
void pack_copy_open(struct pack_copy *copy, const struct pack *pack,
		    const struct pack_writer *writer, uint64_t bytes);
void pack_copy_close(struct pack_copy *copy);

/*
 * Put the bytes [start, end) of the pack, which may be none. 0; ERR_CORRUPT
 * when the pack has no such bytes; or the error of pack_bytes() or the writer.
 */
int pack_copy_put(struct pack_copy *copy, struct pack_writer *writer,
		  uint64_t start, uint64_t end, struct error *err);

#endif
