/* SPDX-License-Identifier: MIT */
/*
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
 *	objects/pack/pack-<40 or 64 digits>.pack    HTTP_PACK
 *	objects/pack/pack-<40 or 64 digits>.idx     HTTP_IDX
 *	git-upload-pack                             HTTP_UPLOAD_PACK
 *	git-receive-pack                            HTTP_RECEIVE_PACK
 *	git-upload-archive                          HTTP_UPLOAD_ARCHIVE
 *
 * Digits are hexadecimal, in lower case. A request cannot name any other file.
 */
#ifndef HTTP_HTTP_URL_H
#define HTTP_HTTP_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

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
	/* length of the repository's path */
	size_t repo_len;
	/* the rest; points into the path */
	const char *name;
};

/*
 * Whether a path begins with a slash and has no component that is empty, "." or
 * "..". A final slash is allowed.
 */
bool http_path_is_plain(const char *path);

/* Whether a path has a component "..". */
bool http_path_climbs(const char *path);

/* Parse a path. Returns false if no route matches. */
bool http_url_parse(struct http_url *url, const char *path);

/*
 * Append the value of a query parameter to *out. "%41" and "+" are decoded;
 * "%00" is not. If there are several, the last one counts. As in stock Git, a
 * parameter without a name ends the list. Returns 1, 0 if there is no such
 * parameter, or ERR_NOMEM.
 */
int http_query_get(struct buf *out, const char *query, const char *name);

/*
 * Check a result of http_url_parse() by another algorithm, for tests and
 * fuzzing. Returns whether the result is correct.
 */
bool http_url_verify(const struct http_url *url, const char *path);

#endif
