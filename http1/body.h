/* SPDX-License-Identifier: MIT */
/*
 * The body of an HTTP/1.x request, as it arrives (RFC 9112, 6 and 7).
 *
 *	length    body_len bytes
 *	chunked   5 CR LF hello CR LF      size in hexadecimal, then the bytes
 *	          3;ext=1 CR LF abc CR LF  extensions are ignored
 *	          0 CR LF                  last chunk
 *	          Name: value CR LF        trailers are ignored
 *	          CR LF
 *
 * States of a chunked body:
 *
 *	state   input                          next
 *	------  -----------------------------  ------------------------------
 *	SIZE    hexadecimal digit              SIZE
 *	        ';'                            EXT
 *	        CR                             SIZE_LF
 *	EXT     byte that is no control byte   EXT
 *	        CR                             SIZE_LF
 *	SIZE_LF LF                             DATA, or TRAILER if the size is 0
 *	DATA    bytes of the chunk             DATA, then DATA_CR
 *	DATA_CR CR                             DATA_LF
 *	DATA_LF LF                             SIZE
 *	TRAILER CR                             LAST_LF
 *	        byte that is no control byte   FIELD
 *	FIELD   byte that is no control byte   FIELD
 *	        CR                             FIELD_LF
 *	FIELD_LF LF                            TRAILER
 *	LAST_LF LF                             END
 *
 * Any other input is an error. In the states EXT, TRAILER and FIELD a tab is
 * allowed, too. No white space is allowed around a size.
 */
#ifndef HTTP1_BODY_H
#define HTTP1_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "http1/head.h"

/* maximum bytes of all extensions and trailers of a body */
#define HTTP1_BODY_EXTRA_MAX 8192

enum http1_body_state {
	HTTP1_BODY_SIZE,
	HTTP1_BODY_EXT,
	HTTP1_BODY_SIZE_LF,
	HTTP1_BODY_DATA,
	HTTP1_BODY_DATA_CR,
	HTTP1_BODY_DATA_LF,
	HTTP1_BODY_TRAILER,
	HTTP1_BODY_FIELD,
	HTTP1_BODY_FIELD_LF,
	HTTP1_BODY_LAST_LF,
	HTTP1_BODY_END,
};

struct http1_body {
	enum http1_body_state state;
	bool is_chunked;
	/* bytes left of the chunk, or of the body if it has a length */
	uint64_t left;
	/* number of digits of the current chunk size that were read */
	unsigned digit_nr;
	/* bytes of extensions and trailers so far */
	unsigned extra;
};

/*
 * The result of one call of http1_body_next(): which bytes of the input belong
 * to the body.
 */
struct http1_piece {
	/* bytes of the body: input bytes [off, off + len) */
	size_t off, len;
};

/* Prepares to read the body of a request with this head. */
void http1_body_init(struct http1_body *body, const struct http1_head *head);

/*
 * Takes bytes from the input: first the bytes of the framing, then bytes of one
 * chunk. The caller removes piece->off + piece->len bytes from the input before
 * the next call. Bytes behind the body are not taken.
 *
 * Returns 1 if the body has ended; piece->len is 0. Returns 0 otherwise; if
 * piece->len is 0, all `len` bytes were framing, and more input is needed.
 * Returns ERR_PEER if the framing is not valid; *piece is then zeroed.
 */
int http1_body_next(struct http1_body *body, const char *bytes, size_t len,
		    struct http1_piece *piece, struct error *err);

/* The framing of a chunked answer (RFC 9112, 7.1). */

/* maximum length of the bytes before a chunk's data: CR LF, 16 digits, CR LF */
#define HTTP1_CHUNK_HEAD_MAX 20

/*
 * Writes the bytes that precede the data of a chunk with `len` bytes of data.
 * If `is_first` is false, the bytes also end the data of the chunk before. A
 * `len` of 0 ends the whole body; nothing follows. `out` has room for
 * HTTP1_CHUNK_HEAD_MAX bytes. Returns the number of bytes written.
 */
size_t http1_chunk_head(char *out, uint64_t len, bool is_first);

#endif
