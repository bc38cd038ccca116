/* SPDX-License-Identifier: MIT */
/*
 * Deflate streams: whole buffers with libdeflate when built with it (zlib
 * otherwise), prefixes and streams with zlib. One object per thread.
 */
#ifndef PACK_INFLATE_H
#define PACK_INFLATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

struct inflater;

/* NULL when out of memory. */
struct inflater *inflater_new(void);
void inflater_free(struct inflater *inf);

/*
 * Inflate one zlib stream of exactly `dst_len` bytes into dst. The stream
 * lies at src and may be shorter than src_len; *used (may be NULL) gets its
 * length. Returns 0 or ERR_CORRUPT.
 */
int inflater_exact(struct inflater *inf, void *dst, size_t dst_len,
		   const void *src, size_t src_len, size_t *used);

/*
 * Inflate at most dst_len bytes from the front of a stream. Returns the
 * number of bytes had, or ERR_CORRUPT.
 */
ssize_t inflater_prefix(struct inflater *inf, void *dst, size_t dst_len,
			const void *src, size_t src_len);

/*
 * Inflate in pieces: after a start, feed until the stream ends. *src_len and
 * *dst_len say how many bytes and how much room there are, and then how many
 * were used and had. Returns 1 at the end of the stream, 0 when it wants more
 * bytes or more room, ERR_CORRUPT or ERR_NOMEM.
 */
int inflater_start(struct inflater *inf);
int inflater_feed(struct inflater *inf, void *dst, size_t *dst_len,
		  const void *src, size_t *src_len);

struct deflater;

/* `level`: 0..9, or -1 for the default. NULL when out of memory. */
struct deflater *deflater_new(int level);
void deflater_free(struct deflater *def);

/* Append the zlib stream of `len` bytes to *out. 0 or ERR_NOMEM. */
int deflater_append(struct deflater *def, struct buf *out, const void *src,
		    size_t len);

/* CRC-32 as in pack indexes (the zlib polynomial); start with 0. */
uint32_t pack_crc32(uint32_t crc, const void *bytes, size_t len);

#endif
