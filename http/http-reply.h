/* SPDX-License-Identifier: MIT */
/*
 * The answer of a CGI program (RFC 3875): header lines, an empty line, a body.
 *
 *	Content-Type: text/plain CR LF
 *	CR LF
 *	...
 *
 * Headers are collected and go out with the first byte of the body, so that
 * what goes wrong before that can still become a status.
 *
 * One thread at a time.
 */
#ifndef HTTP_HTTP_REPLY_H
#define HTTP_HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "wire/io.h"
#include "wire/pktline.h"

struct http_reply {
	const struct serve_io *io; /* borrowed */
	struct buf head;           /* header lines not sent yet */
	bool has_begun;            /* headers are out */
	bool no_body;              /* HEAD: only headers are wanted */
	struct pktline_tap *tap;   /* borrowed: counts the body; NULL after init
				    */
};

void http_reply_init(struct http_reply *r, const struct serve_io *io,
		     bool no_body);
void http_reply_release(struct http_reply *r);

/*
 * Add a header line. `value` is written as it is: it has to be without line
 * ends. 0 or ERR_NOMEM.
 */
int http_reply_header(struct http_reply *r, const char *name, const char *value,
		      struct error *err);
int http_reply_number(struct http_reply *r, const char *name, uint64_t value,
		      struct error *err);

/* As http_reply_header() for a time, in seconds since 1970. */
int http_reply_date(struct http_reply *r, const char *name, int64_t seconds,
		    struct error *err);

/* Add the headers that forbid to keep the answer, or allow it for a year. */
int http_reply_never_cache(struct http_reply *r, struct error *err);
int http_reply_cache_for_ever(struct http_reply *r, int64_t now,
			      struct error *err);

/* Send the headers; once, later calls do nothing. 0 or negative. */
int http_reply_begin(struct http_reply *r, struct error *err);

/* Send bytes of the body, after the headers. */
int http_reply_put(struct http_reply *r, const void *bytes, size_t len,
		   struct error *err);

/* As http_reply_put() for spans; a writev of a serve_io with ctx == r. */
int http_reply_writev(void *ctx, struct iovec *iov, size_t nr,
		      struct error *err);

/*
 * The same for some bytes and then those of a file. Only where the output has
 * such a function.
 */
int http_reply_send_file(struct http_reply *r, const void *head, size_t len,
			 const struct sys_file_span *span, struct error *err);

/*
 * Answer with a status instead ("404 Not Found"): what was collected is
 * forgotten. `allow`: the methods that the status 405 has to name; `text`: a
 * body. Either may be NULL. Not after the answer has begun.
 */
int http_reply_refuse(struct http_reply *r, const char *status,
		      const char *allow, const char *text, struct error *err);

#endif
