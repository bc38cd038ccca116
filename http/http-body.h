/* SPDX-License-Identifier: MIT */
/*
 * The body of a request. Its length is CONTENT_LENGTH. If the web server does
 * not know the length (a chunked request), the body ends with the input. The
 * body may be compressed with gzip.
 *
 * A reader holds at most HTTP_BODY_PIECE bytes of input and zlib's window,
 * whatever a client sends. A body is used by one thread.
 */
#ifndef HTTP_HTTP_BODY_H
#define HTTP_HTTP_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "wire/io.h"

/* compressed bytes read ahead */
#define HTTP_BODY_PIECE 16384

struct http_body;

/*
 * Open the body. `length` is the value of CONTENT_LENGTH, `encoding` that of
 * HTTP_CONTENT_ENCODING; NULL or "" if unset. Returns 0 with *out owned by the
 * caller (borrows io). Returns ERR_INVALID if `length` is not a number,
 * ERR_UNSUPPORTED if `encoding` is not gzip, x-gzip or identity, or ERR_NOMEM.
 */
int http_body_open(struct http_body **out, const struct serve_io *io,
		   const char *length, const char *encoding, struct error *err);
void http_body_close(struct http_body *body);

/*
 * Read up to `len` (> 0) decompressed bytes. Returns their number, 0 at the
 * end, or a negative error code: ERR_PEER if the gzip stream is damaged or
 * truncated. A gzip stream may have several members; bytes after the last
 * member are ignored. The function fits struct serve_io, with ctx == body.
 */
ssize_t http_body_read(void *ctx, void *bytes, size_t len, struct error *err);

/*
 * Append the whole body, decompressed, to *out. Returns 0, or ERR_DENIED if the
 * body has more than `max` bytes, or another negative error code. Memory grows
 * with the bytes that arrive.
 */
int http_body_read_all(struct http_body *body, struct buf *out, uint64_t max,
		       struct error *err);

#endif
