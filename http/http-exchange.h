/* SPDX-License-Identifier: MIT */
/*
 * One request and its answer, on the way through the parts of http/http.h:
 *
 *   http.c           which answer a request gets
 *   http-smart.c     fetches and pushes
 *   http-dumb.c      files and listings
 *   http-exchange.c  what these share
 *
 * Each function that answers returns 0, or fails before the answer has begun
 * (http.c makes a status of that) or after (nothing can be done).
 */
#ifndef HTTP_HTTP_EXCHANGE_H
#define HTTP_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "http/http-reply.h"
#include "http/http-url.h"
#include "http/http.h"
#include "repo/repo.h"

struct http_exchange {
	const struct http_options *options; /* borrowed */
	const struct serve_io *io;          /* borrowed */
	const struct repo *repo;            /* borrowed; NULL until entered */
	struct http_url url;
	struct http_reply reply;
	/* What the configuration says, from http_configure(). */
	bool get_any_file;       /* http.getanyfile */
	bool upload_pack;        /* http.uploadpack */
	bool receive_pack;       /* http.receivepack, or who asks */
	uint64_t request_buffer; /* bytes of a fetch's request at most */
};

/* ---- http-exchange.c */

/*
 * Answer with a status, and log the reason, a format. Takes the place of what
 * the reply has collected.
 */
int http_refuse(struct http_exchange *x, const char *status, struct error *err,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * Fill in what the configuration of x->repo says, and the environment
 * (GIT_HTTP_MAX_REQUEST_BUFFER, REMOTE_USER). Files are not given out where
 * clients may only have what they can reach (wire/visible.h). Returns 0, or
 * negative for a value that is invalid.
 */
int http_configure(struct http_exchange *x, struct error *err);

/* ---- http-dumb.c */

/* Files and listings for dumb clients: all routes but the services. */
int http_dumb(struct http_exchange *x, struct error *err);

/* ---- http-smart.c */

/*
 * What a service says first, for info/refs?service=<name>; refuses what is no
 * service or not enabled.
 */
int http_smart_advertise(struct http_exchange *x, const char *name,
			 struct error *err);

/* A request of a service, HTTP_UPLOAD_PACK or HTTP_RECEIVE_PACK. */
int http_smart_serve(struct http_exchange *x, struct error *err);

#endif
