/* SPDX-License-Identifier: MIT */
/*
 * What an HTTP client asks for: the repository and the thing in it that a path
 * names, and the parameters behind the question mark (gitprotocol-http(5)).
 * Nothing here touches a file.
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
 *
 * Digits are hexadecimal, in lower case. No other file can be named.
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
};

struct http_url {
	enum http_route route;
	size_t repo_len;  /* bytes of the path that name the repository */
	const char *name; /* the rest, points into the path */
};

/*
 * Whether a path begins with a slash and names nothing in a roundabout way:
 * it has no component that is empty, "." or "..". It may end with a slash.
 */
bool http_path_is_plain(const char *path);

/* Whether a path has a component "..". */
bool http_path_climbs(const char *path);

/* Take a path apart; false when it names nothing that is served. */
bool http_url_parse(struct http_url *url, const char *path);

/*
 * The value of a parameter, appended to *out with "%41" and "+" decoded ("%00"
 * is left as it is); of several the last. As for stock Git, a parameter
 * without a name ends them. 1, 0 when there is none, or ERR_NOMEM.
 */
int http_query_get(struct buf *out, const char *query, const char *name);

/*
 * Check what http_url_parse() says about a path, the slow way: for tests and
 * fuzzing.
 */
bool http_url_verify(const struct http_url *url, const char *path);

#endif
