/* SPDX-License-Identifier: MIT */
/* The framing of a chunked answer (RFC 9112, 7.1). */
#ifndef HTTP1_CHUNK_H
#define HTTP1_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* maximum length of the bytes before a chunk's data: CR LF, 16 digits, CR LF */
#define HTTP1_CHUNK_HEAD_MAX 20

/*
 * Write the bytes that precede the data of a chunk with `len` bytes of data.
 * If `is_first` is false, the bytes also end the data of the chunk before. A
 * `len` of 0 ends the whole body; nothing follows. `out` has room for
 * HTTP1_CHUNK_HEAD_MAX bytes. Returns the number of bytes written.
 */
size_t http1_chunk_head(char *out, uint64_t len, bool is_first);

#endif
