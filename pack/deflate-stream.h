/* SPDX-License-Identifier: MIT */
/*
 * Makes a zlib stream piece by piece. If all bytes are in memory,
 * pack/inflate.h is faster.
 */
#ifndef PACK_DEFLATE_STREAM_H
#define PACK_DEFLATE_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct deflate_stream;

/* `level` is 0..9, or -1 for the default. Returns NULL if memory runs out. */
struct deflate_stream *deflate_stream_new(int level);
void deflate_stream_free(struct deflate_stream *ds);

/*
 * Adds `len` bytes, and appends the available output to *out. `end` means that
 * these are the last bytes, which completes the stream. Returns 0 or ERR_NOMEM.
 */
int deflate_stream_feed(struct deflate_stream *ds, struct buf *out,
			const void *bytes, size_t len, bool end);

#endif
