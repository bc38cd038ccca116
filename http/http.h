/* SPDX-License-Identifier: MIT */
/*
 * Git over HTTP, behind a web server that speaks CGI (RFC 3875): one request
 * in, one answer out. Smart clients are served by upload-pack and receive-pack
 * in this process, dumb ones get files.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include <stdbool.h>

#include "base/error.h"
#include "repo/repo.h"
#include "wire/io.h"

/*
 * The request: variables of the environment, by the names of which the fields
 * are called. NULL: unset. All pointers are borrowed for the call.
 */
struct http_options {
	const char *request_method;
	const char *server_protocol; /* "HTTP/1.1": its statuses are known */
	const char *project_root;    /* GIT_PROJECT_ROOT; "" is unset */
	const char *path_info;
	const char *path_translated;
	const char *query_string;
	const char *content_type;
	const char *content_length;
	const char *content_encoding;   /* HTTP_CONTENT_ENCODING */
	const char *remote_user;        /* "": nobody */
	const char *max_request_buffer; /* GIT_HTTP_MAX_REQUEST_BUFFER */
	bool export_all;                /* GIT_HTTP_EXPORT_ALL */
	const char *git_protocol;       /* GIT_PROTOCOL */
	const char *namespace;          /* GIT_NAMESPACE */
	const char *agent;              /* "<name>/<version>" */
	const char *session_id;         /* for transfer.advertiseSID, or NULL */
	/*
	 * Open the repository at `path` as `git upload-pack` does without
	 * --strict, and make its git directory the working directory. *repo is
	 * borrowed, and lives until http_serve() returns. ERR_MISSING when
	 * there is none.
	 */
	int (*enter)(void *ctx, const char *path, const struct repo **repo,
		     struct error *err);
	/* A line for the web server's log, without line feed. */
	void (*log)(void *ctx, const char *line);
	/* Text that a pusher cannot be shown. */
	void (*tell)(void *ctx, const char *text, size_t len);
	void *ctx;
};

/*
 * Answer one request. 0 when there is an answer, whatever it says: what went
 * wrong before its first byte has become a status and a line of the log.
 * Negative when it went wrong after that.
 */
int http_serve(const struct http_options *options, const struct serve_io *io,
	       struct error *err);

#endif
