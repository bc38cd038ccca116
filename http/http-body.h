/* SPDX-License-Identifier: MIT */
/*
 * The body of a request: as long as CONTENT_LENGTH says, or up to the end of
 * the input when the web server does not know (a chunked request); packed with
 * gzip or not.
 *
 * Whatever a client sends, reading holds HTTP_BODY_PIECE bytes of it and
 * zlib's window. One thread.
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

#define HTTP_BODY_PIECE 16384 /* packed bytes read ahead */

struct http_body;

/*
 * 0 with *out owned by the caller (borrows io). `length` is the value of
 * CONTENT_LENGTH, `encoding` of HTTP_CONTENT_ENCODING; NULL or "" when unset.
 * ERR_INVALID for a length that is no number; ERR_UNSUPPORTED for another
 * encoding than gzip, x-gzip and identity; ERR_NOMEM.
 */
int http_body_open(struct http_body **out, const struct serve_io *io,
		   const char *length, const char *encoding, struct error *err);
void http_body_close(struct http_body *body);

/*
 * Read up to `len` (> 0) unpacked bytes: how many, 0 at the end, or negative;
 * ERR_PEER for a gzip stream that is damaged or cut short. It may have several
 * members; what follows them is not looked at. A read of a serve_io with ctx ==
 * body.
 */
ssize_t http_body_read(void *ctx, void *bytes, size_t len, struct error *err);

/*
 * Append all of it, unpacked, to *out; ERR_DENIED when it is more than `max`
 * bytes. Memory grows with what has come.
 */
int http_body_read_all(struct http_body *body, struct buf *out, uint64_t max,
		       struct error *err);

#endif
