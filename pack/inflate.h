/* SPDX-License-Identifier: MIT */
/*
 * Inflates and deflates zlib streams. Whole buffers use libdeflate if the
 * program was built with it, otherwise zlib. If only the start of a stream is
 * inflated, or a stream comes in pieces, zlib is used. Inflaters and deflaters
 * belong to one thread.
 */
#ifndef PACK_INFLATE_H
#define PACK_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

struct inflater;

/*
 * Makes an object that inflates zlib streams. Returns NULL if memory runs out.
 */
struct inflater *inflater_new(void);
void inflater_free(struct inflater *inf);

/*
 * Inflates one zlib stream of exactly `dst_len` bytes into dst. The stream
 * starts at src and may be shorter than src_len; *used (NULL allowed) is set to
 * its length. Returns 0 or ERR_CORRUPT.
 */
int inflater_exact(struct inflater *inf, void *dst, size_t dst_len,
		   const void *src, size_t src_len, size_t *used);

/*
 * Inflates one zlib stream of at most `dst_len` bytes into dst. The stream
 * starts at src and may be shorter than src_len. *had and *used are set to the
 * lengths of the inflated bytes and of the stream. Returns 0 if dst has all
 * bytes, 1 if dst is too small, ERR_CORRUPT or ERR_NOMEM. If the result is not
 * 0, dst may have some bytes of the stream, and *had and *used have no meaning.
 */
int inflater_up_to(struct inflater *inf, void *dst, size_t dst_len, size_t *had,
		   const void *src, size_t src_len, size_t *used);

/*
 * Inflates at most dst_len bytes from the start of a stream. Returns the number
 * of bytes inflated, or ERR_CORRUPT.
 */
ssize_t inflater_prefix(struct inflater *inf, void *dst, size_t dst_len,
			const void *src, size_t src_len);

/*
 * Inflate a stream in pieces. Call inflater_start() once, then inflater_feed()
 * until the stream ends. Before each call, the caller sets *src_len and
 * *dst_len to the number of bytes at `src` and the room at `dst`. The call
 * sets them to the number of bytes consumed and produced. inflater_feed()
 * returns 1 at the end of the stream, 0 if it needs more bytes or room,
 * ERR_CORRUPT or ERR_NOMEM.
 */
int inflater_start(struct inflater *inf);
int inflater_feed(struct inflater *inf, void *dst, size_t *dst_len,
		  const void *src, size_t *src_len);

struct deflater;

/*
 * Makes an object that deflates to zlib streams. `level` is 0 (no compression)
 * to 9 (smallest), or -1 for zlib's usual level, 6. Returns NULL if memory
 * runs out.
 */
struct deflater *deflater_new(int level);
void deflater_free(struct deflater *def);

/* Appends the zlib stream of `len` bytes to *out. Returns 0 or ERR_NOMEM. */
int deflater_append(struct deflater *def, struct buf *out, const void *src,
		    size_t len);

/*
 * Returns the CRC-32 (zlib's polynomial, as in pack indexes) of earlier bytes
 * followed by `len` bytes. `crc` is the CRC of the earlier bytes, 0 for none.
 */
uint32_t pack_crc32(uint32_t crc, const void *bytes, size_t len);

/*
 * Makes a zlib stream piece by piece. If all bytes are in memory,
 * deflater_append() is faster.
 */
struct deflate_stream;

/*
 * Makes the state for compressing one stream. `level` is 0 (no compression) to
 * 9 (smallest), or -1 for zlib's usual level, 6. Returns NULL if memory runs
 * out.
 */
struct deflate_stream *deflate_stream_new(int level);
void deflate_stream_free(struct deflate_stream *ds);

/*
 * Adds `len` bytes, and appends the available output to *out. `end` means that
 * these are the last bytes, which completes the stream. Returns 0 or ERR_NOMEM.
 */
int deflate_stream_feed(struct deflate_stream *ds, struct buf *out,
			const void *bytes, size_t len, bool end);

#endif
