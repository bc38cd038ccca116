/* SPDX-License-Identifier: MIT */
/*
 * A zlib stream that is made piece by piece; pack/inflate.h makes those of
 * what is in memory, faster.
 */
#ifndef PACK_DEFLATE_STREAM_H
#define PACK_DEFLATE_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct deflate_stream;

/* `level`: 0..9, or -1 for the default. NULL when out of memory. */
struct deflate_stream *deflate_stream_new(int level);
void deflate_stream_free(struct deflate_stream *ds);

/*
 * Take `len` bytes, and append what can be said of the stream so far to *out;
 * `end`: these were the last, the stream is then complete. 0 or ERR_NOMEM.
 */
int deflate_stream_feed(struct deflate_stream *ds, struct buf *out,
			const void *bytes, size_t len, bool end);

#endif
