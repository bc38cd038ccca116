/* SPDX-License-Identifier: MIT */
/*
 * One request and its answer, as the parts of http/http.h share it:
 *
 *   http.c           chooses the kind of answer
 *   http-smart.c     fetches, pushes and archives
 *   http-dumb.c      files and listings
 *   http-exchange.c  functions that these share
 *
 * A function that answers returns 0 or a negative error code. If it fails
 * before the answer has begun, http.c sends an error status. After that, an
 * error cannot be reported to the client.
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
	/* borrowed; NULL until it is open */
	const struct repo *repo;
	struct http_url url;
	struct http_reply reply;
	/* Set by http_configure(): */
	bool get_any_file; /* http.getanyfile */
	bool upload_pack;  /* http.uploadpack */
	/* http.receivepack; default: a user is known */
	bool receive_pack;
	/* http.uploadarchive; default: false */
	bool upload_archive;
	/* maximum bytes of a request for a fetch or an archive */
	uint64_t request_buffer;
};

/* ---- http-exchange.c */

/*
 * Answer with an error status and log the reason, a format. Headers that the
 * reply has collected are dropped. Returns 0 or a negative error code.
 */
int http_refuse(struct http_exchange *x, const char *status, struct error *err,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * Load the configuration of x->repo, and the options from
 * GIT_HTTP_MAX_REQUEST_BUFFER and REMOTE_USER. Files are not served if clients
 * are limited to reachable objects (wire/visible.h). Returns 0, or a negative
 * error code if a value is not valid.
 */
int http_configure(struct http_exchange *x, struct error *err);

/* ---- http-dumb.c */

/*
 * Answer a dumb client with a file or a listing. Handles all routes except the
 * services.
 */
int http_dumb(struct http_exchange *x, struct error *err);

/* ---- http-smart.c */

/*
 * Answer info/refs?service=<name> with the service's advertisement. Refuses a
 * name that is not a service, and a service that is not enabled.
 */
int http_smart_advertise(struct http_exchange *x, const char *name,
			 struct error *err);

/*
 * Answer a request to a service, HTTP_UPLOAD_PACK, HTTP_RECEIVE_PACK or
 * HTTP_UPLOAD_ARCHIVE.
 */
int http_smart_serve(struct http_exchange *x, struct error *err);

#endif
