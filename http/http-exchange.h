/* SPDX-License-Identifier: MIT */
/*
 * One HTTP request and its answer. These files share the struct:
 *
 *   http.c           chooses the kind of answer
 *   http-smart.c     fetches, pushes and archives
 *   http-dumb.c      files and listings
 *   http-exchange.c  functions for all kinds of answers
 *
 * A function that answers returns 0 or a negative error code. If it fails
 * before the answer has begun, http.c sends an error status. After the answer
 * has begun, an error cannot be reported to the client.
 */
#ifndef HTTP_HTTP_EXCHANGE_H
#define HTTP_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "http/http-request.h"
#include "http/http.h"
#include "repo/repo.h"
#include "wire/io.h"
#include "wire/pktline.h"

/*
 * ---- http-reply.c
 *
 * The answer of a CGI program (RFC 3875), or of a server of HTTP/1.0 or
 * HTTP/1.1 (enum http_form in http.h): header lines, an empty line, a body.
 *
 *	HTTP_CGI                   HTTP_1_1
 *	-------------------------  ------------------------------
 *	Status: 404 Not Found      HTTP/1.1 404 Not Found
 *	Content-Type: text/plain   Content-Type: text/plain
 *	                           Date: ...
 *	                           Transfer-Encoding: chunked
 *	                           Connection: close
 *
 * The body of HTTP/1.1 is sent in chunks if its length is not known. In
 * HTTP/1.0 such a body ends with the connection.
 *
 * Headers are collected and sent with the first byte of the body. An error
 * before that moment can still become an error status.
 *
 * A reply is used by one thread at a time.
 */

struct http_reply {
	const struct serve_io *io; /* borrowed */
	/* header lines that were not sent yet */
	struct buf head;
	bool has_begun; /* the headers were sent */
	/* http_reply_init() sets HTTP_CGI; the caller may set another form. */
	enum http_form form;
	/*
	 * true: the caller wants to use the connection for a further request.
	 * Not used in the form HTTP_CGI.
	 */
	bool keep_alive;
	const char *status; /* borrowed; NULL: "200 OK" */
	/* borrowed; value of WWW-Authenticate for status 401, or NULL */
	const char *challenge;
	/* seconds for Retry-After with status 429; 0: no such field */
	unsigned retry_after;
	bool has_length, has_date;
	bool is_chunked;
	/*
	 * true: a chunk was sent, but not the line end after its data. The head
	 * of the next chunk begins with this line end.
	 */
	bool has_chunk;
	/* true: the end of the body was sent */
	bool has_ended;
	/* true: the method is HEAD: only headers are sent */
	bool no_body;
	/*
	 * borrowed: counts the bytes of the body; http_reply_init() sets NULL
	 */
	struct pktline_tap *tap;
};

void http_reply_init(struct http_reply *r, const struct serve_io *io,
		     bool no_body);
void http_reply_release(struct http_reply *r);

/*
 * Add a header line. `value` is not escaped and must not contain line ends.
 * Returns 0 or ERR_NOMEM.
 */
int http_reply_header(struct http_reply *r, const char *name, const char *value,
		      struct error *err);
int http_reply_number(struct http_reply *r, const char *name, uint64_t value,
		      struct error *err);

/* Add the header Content-Length. Returns 0 or ERR_NOMEM. */
int http_reply_length(struct http_reply *r, uint64_t len, struct error *err);

/*
 * Add a header line with a date. `seconds` counts from 1970. Returns 0 or
 * ERR_NOMEM.
 */
int http_reply_date(struct http_reply *r, const char *name, int64_t seconds,
		    struct error *err);

/*
 * Add header lines about caching. http_reply_never_cache() forbids clients to
 * cache the answer; http_reply_cache_for_ever() allows it for one year. `now`
 * is in seconds since 1970. Both functions return 0 or ERR_NOMEM.
 */
int http_reply_never_cache(struct http_reply *r, struct error *err);
int http_reply_cache_for_ever(struct http_reply *r, int64_t now,
			      struct error *err);

/*
 * Send the headers, unless they were sent. Returns 0 or a negative error code.
 */
int http_reply_begin(struct http_reply *r, struct error *err);

/*
 * Send bytes of the body. If the headers were not sent yet, they are sent
 * first. Returns 0 or a negative error code.
 */
int http_reply_put(struct http_reply *r, const void *bytes, size_t len,
		   struct error *err);

/*
 * Send `nr` spans of the body. If the headers were not sent yet, they are sent
 * first. The signature is that of serve_io.writev; `ctx` is the struct
 * http_reply. Returns 0 or a negative error code.
 */
int http_reply_writev(void *ctx, struct iovec *iov, size_t nr,
		      struct error *err);

/*
 * Send the last `nr` spans of the body. If the number of spans is small, the
 * same write also sends the end of the body, such as HTTP's last chunk. If the
 * number is large, http_reply_end() sends the end later. The signature is that
 * of serve_io.writev_last. Returns 0 or a negative error code.
 */
int http_reply_writev_last(void *ctx, struct iovec *iov, size_t nr,
			   struct error *err);

/*
 * Send bytes of the body: first the `len` bytes at `head`, then a span of a
 * file. The headers are sent first if necessary. r->io->send_file must not be
 * NULL. Returns 0 or a negative error code.
 */
int http_reply_send_file(struct http_reply *r, const void *head, size_t len,
			 const struct sys_file_span *span, struct error *err);

/*
 * Pass a span of the body to r->io->emit(), which may send the bytes after this
 * function has returned. The headers are sent first if necessary. r->io->emit
 * must not be NULL. Returns 0 or a negative error code.
 */
int http_reply_emit(struct http_reply *r, const struct serve_span *span,
		    struct error *err);

/*
 * End the body. If the headers were not sent yet, they are sent first. Returns
 * 0 or a negative error code.
 */
int http_reply_end(struct http_reply *r, struct error *err);

/*
 * Answer with an error status, for example "404 Not Found". Header lines added
 * before are dropped. `allow`: the allowed methods, for status 405. `text`: the
 * body. Both may be NULL. Call this function only before the headers are sent.
 * Returns 0 or a negative error code.
 */
int http_reply_refuse(struct http_reply *r, const char *status,
		      const char *allow, const char *text, struct error *err);

struct http_exchange {
	const struct http_options *options; /* borrowed */
	const struct serve_io *io;          /* borrowed */
	/* borrowed; NULL until the repository is open */
	const struct repo *repo;
	struct http_url url;
	struct http_reply reply;
	/* Set by http_configure(): */
	bool get_any_file; /* http.getanyfile */
	bool upload_pack;  /* http.uploadpack */
	/* http.receivepack; default: true if the web server names a user */
	bool receive_pack;
	/* http.uploadarchive; default: false */
	bool upload_archive;
	/* maximum bytes of a request for a fetch or an archive */
	uint64_t request_buffer;
};

/* ---- http-exchange.c */

/*
 * Answer with an error status, and write the reason to the log. `fmt` formats
 * the reason. Header lines that the reply has collected are dropped. Returns 0
 * or a negative error code.
 */
int http_refuse(struct http_exchange *x, const char *status, struct error *err,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * Refuse a request that may be allowed for another user. Works like
 * http_refuse(), with `reason` and `what` in the log. Exception: if the client
 * should send a password, the status is 401, and the log has no line. Returns 0
 * or a negative error code.
 */
int http_refuse_user(struct http_exchange *x, const char *status,
		     const char *reason, const char *what, struct error *err);

/*
 * Load the configuration of x->repo, and the options from
 * GIT_HTTP_MAX_REQUEST_BUFFER and REMOTE_USER. Files are not served if clients
 * are limited to reachable objects (wire/visible.h). Returns 0, or a negative
 * error code if a value is not valid.
 */
int http_configure(struct http_exchange *x, struct error *err);

/*
 * Returns 1 if dumb clients may get files, 0 if not, or a negative error code.
 * If clients may only have reachable objects, they may get no files: a client
 * that can read these files can read all objects.
 */
int http_may_get_files(const struct http_exchange *x, struct error *err);

/* ---- http-dumb.c */

/*
 * Answer a dumb client with a file or a listing. Handles each route except
 * HTTP_UPLOAD_PACK, HTTP_RECEIVE_PACK and HTTP_UPLOAD_ARCHIVE. Before the call,
 * http_may_get_files() has allowed the request. Returns 0 or a negative error
 * code.
 */
int http_dumb(struct http_exchange *x, struct error *err);

/* ---- http-smart.c */

/*
 * Answer the request info/refs?service=<name> with the service's advertisement.
 * The function refuses a name that is not a service, and a service that is not
 * enabled. Returns 0 or a negative error code.
 */
int http_smart_advertise(struct http_exchange *x, const char *name,
			 struct error *err);

/*
 * Answer a request to a service: HTTP_UPLOAD_PACK, HTTP_RECEIVE_PACK or
 * HTTP_UPLOAD_ARCHIVE. Returns 0 or a negative error code.
 */
int http_smart_serve(struct http_exchange *x, struct error *err);

#endif
