/* SPDX-License-Identifier: MIT */
/*
 * The declarations of two files that read an HTTP request: its URL (http-url.c)
 * and its body (http-body.c).
 */
#ifndef HTTP_HTTP_REQUEST_H
#define HTTP_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "wire/io.h"

/*
 * ---- http-url.c
 *
 * The URL of a request (gitprotocol-http(5)): the repository and the file or
 * service that its path names, and the query parameters. These functions do not
 * open files.
 *
 *	/srv/git/foo.git/objects/pack/pack-<40 or 64 digits>.idx
 *	|<- repository ->|<- name ------------------------------>|
 *
 *	name                                        route
 *	------------------------------------------  --------------------
 *	HEAD                                        HTTP_HEAD
 *	info/refs                                   HTTP_INFO_REFS
 *	objects/info/alternates                     HTTP_ALTERNATES
 *	objects/info/http-alternates                HTTP_ALTERNATES
 *	objects/info/packs                          HTTP_INFO_PACKS
 *	objects/<2 digits>/<38 or 62 digits>        HTTP_LOOSE
 *	objects/pack/<name of a pack>.pack          HTTP_PACK
 *	objects/pack/<name of a pack>.idx           HTTP_IDX
 *	git-upload-pack                             HTTP_UPLOAD_PACK
 *	git-receive-pack                            HTTP_RECEIVE_PACK
 *	git-upload-archive                          HTTP_UPLOAD_ARCHIVE
 *
 * Digits are hexadecimal, in lower case. pack/pack-name.h says which names
 * packs have. A request cannot name any other file.
 */

enum http_route {
	HTTP_HEAD,
	HTTP_INFO_REFS,
	HTTP_ALTERNATES,
	HTTP_INFO_PACKS,
	HTTP_LOOSE,
	HTTP_PACK,
	HTTP_IDX,
	HTTP_UPLOAD_PACK,
	HTTP_RECEIVE_PACK,
	HTTP_UPLOAD_ARCHIVE,
};

struct http_url {
	enum http_route route;
	/* bytes of the path that name the repository */
	size_t repo_len;
	/* points into the path, behind the repository: "info/refs" */
	const char *name;
};

/*
 * Returns whether a path begins with a slash and has no component that is
 * empty, "." or "..". A slash at the end is allowed.
 */
bool http_path_is_plain(const char *path);

/* Returns whether one component of a path is "..". */
bool http_path_climbs(const char *path);

/* Find the route of a path and set *url. Returns false if no route matches. */
bool http_url_parse(struct http_url *url, const char *path);

/*
 * Append the value of a query parameter to *out. "%41" and "+" are decoded;
 * "%00" is not. If the parameter occurs several times, the last value is used.
 * A parameter without a name ends the list, as in stock Git. Returns 1 if the
 * parameter exists, 0 if not, or ERR_NOMEM.
 */
int http_query_get(struct buf *out, const char *query, const char *name);

/*
 * Check a result of http_url_parse() by another algorithm, for tests and
 * fuzzing. Returns whether the result is correct.
 */
bool http_url_verify(const struct http_url *url, const char *path);

/*
 * ---- http-body.c
 *
 * The body of a request. Its length is CONTENT_LENGTH. If the web server does
 * not know the length (a chunked request), the body goes up to the end of the
 * input. The body may be compressed with gzip.
 *
 * A reader holds at most HTTP_BODY_PIECE bytes of input and zlib's window,
 * whatever a client sends. A body is used by one thread.
 */

/* maximum of compressed bytes that are read ahead */
#define HTTP_BODY_PIECE 16384

struct http_body;

/*
 * Open the body. `length` is the value of CONTENT_LENGTH, and `encoding` is the
 * value of HTTP_CONTENT_ENCODING; NULL or "" if the variable is not set.
 * Returns 0 with *out owned by the caller (borrows io). Returns ERR_INVALID if
 * `length` is not a number, ERR_UNSUPPORTED if `encoding` is not gzip, x-gzip
 * or identity, or ERR_NOMEM.
 */
int http_body_open(struct http_body **out, const struct serve_io *io,
		   const char *length, const char *encoding, struct error *err);
void http_body_close(struct http_body *body);

/*
 * Read up to `len` (> 0) decompressed bytes of the body `ctx`. Returns their
 * number, 0 at the end, or a negative error code: ERR_PEER if the gzip stream
 * is damaged or truncated. A gzip stream may have several members; bytes after
 * the last member are ignored. The signature is that of serve_io.read.
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
