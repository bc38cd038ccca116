/* SPDX-License-Identifier: MIT */
/*
 * Git over HTTP, for a web server that starts a CGI program (RFC 3875) for each
 * request, and for a server that talks to its clients directly. Fetches and
 * pushes are handled in this process. Dumb clients get files. For archives, the
 * program `git upload-archive` is started.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include <stdbool.h>

#include "base/error.h"
#include "odb/odb.h"
#include "receive/receive-pack.h"
#include "repo/repo.h"
#include "serve/upload-pack.h"
#include "wire/io.h"
#include "wire/summary.h"

/* The form of the answer. */
enum http_form {
	/* the answer of a CGI program (RFC 3875) */
	HTTP_CGI,
	/* an answer to a client of HTTP/1.0; it is never sent in chunks */
	HTTP_1_0,
	HTTP_1_1,
};

/*
 * An HTTP request. Most fields are environment variables of CGI, and have their
 * names. NULL: the variable is unset. All pointers are borrowed for the call.
 */
struct http_options {
	const char *request_method;
	/* SERVER_PROTOCOL; status 405 is only sent if this is "HTTP/1.1" */
	const char *server_protocol;
	/* GIT_PROJECT_ROOT; "": unset */
	const char *project_root;
	const char *path_info;
	const char *path_translated;
	const char *query_string;
	const char *content_type;
	const char *content_length;
	const char *content_encoding; /* HTTP_CONTENT_ENCODING */
	const char *remote_user;      /* "": no user */
	/*
	 * Value of WWW-Authenticate. If it is set, a refused request without a
	 * user gets status 401, so that the client asks for a password. NULL:
	 * the server knows no passwords.
	 */
	const char *challenge;
	/* GIT_HTTP_MAX_REQUEST_BUFFER */
	const char *max_request_buffer;
	bool export_all;          /* GIT_HTTP_EXPORT_ALL */
	const char *git_protocol; /* GIT_PROTOCOL */
	const char *namespace;    /* GIT_NAMESPACE */
	const char *agent;        /* "<name>/<version>" */
	/*
	 * value of the capability session-id (transfer.advertiseSID), or NULL
	 */
	const char *session_id;
	/*
	 * Open the repository at `path` as `git upload-pack` does without
	 * --strict. For pushes and archives, the function also changes the
	 * working directory to the git directory. *repo is borrowed and lives
	 * until http_serve() returns. Returns 0, ERR_MISSING if there is no
	 * repository, or another negative error code.
	 */
	int (*enter)(void *ctx, const char *path, const struct repo **repo,
		     struct error *err);
	/*
	 * Gets a snapshot of the objects of the repository that enter() has
	 * opened, as in struct serve_options. NULL: each fetch opens its own
	 * snapshot. `ctx` is that of enter().
	 */
	int (*objects)(void *ctx, struct odb **odb, struct error *warning,
		       struct error *err);
	/*
	 * true: the repository is a local copy of one in a store, and was up to
	 * date a short time ago (is_fresh_copy of struct serve_options).
	 * enter() may set this field.
	 */
	bool is_fresh_copy;
	/*
	 * Begin a push into the repository that enter() has opened: set *target
	 * to the place where the push is stored, or to NULL for the repository
	 * itself. *target is borrowed and lives until http_serve() returns. The
	 * function may replace *repo by a newer view of the same repository.
	 * The view also lives until http_serve() returns. Returns 0 or a
	 * negative error code. If begin_push is NULL, all pushes are stored in
	 * the repository itself. `ctx` is that of enter().
	 */
	int (*begin_push)(void *ctx, const struct repo **repo,
			  const struct receive_target **target,
			  struct error *err);
	/*
	 * Make packs of fetches, see struct serve_options. NULL:
	 * packing_send(). `ctx` is that of enter().
	 */
	serve_make_pack_fn make_pack;
	/* Write a line to the web server's log; `line` has no line feed. */
	void (*log)(void *ctx, const char *line);
	/*
	 * Called before a program is started, to set PATH for the program.
	 * NULL: no call. Returns 0 or a negative error code.
	 */
	int (*before_child)(struct error *err);
	/* Write text for the administrator that the pusher must not see. */
	void (*tell)(void *ctx, const char *text, size_t len);
	void *ctx;
	enum http_form form;
	/*
	 * Whether the connection may be used for a further request. Not used if
	 * `form` is HTTP_CGI.
	 */
	bool keep_alive;
	/* facts about the request for its summary; NULL: none are known */
	const struct summary_about *about;
};

/*
 * If this environment variable is set, http-backend tells the server how the
 * request went, in two ways:
 *
 * - The value of the variable is the number of the descriptor of an open file,
 *   or -1. http-backend writes the times of the request to the beginning of
 *   this file (wire/summary-times.h).
 * - http-backend exits with HTTP_EXIT_FAILED after a request that failed
 *   because of the server. An example is a push whose objects could not be
 *   stored because the disk was full. Without the variable, http-backend exits
 *   with 0, as that of stock Git does: the client has got a complete answer,
 *   the report of the push.
 *
 * The name of the variable comes from its older purpose, the second one of the
 * list. Older servers set the variable to 1, which stands for no file here.
 */
#define HTTP_TELL "GITREACH_TELL_FAILURE"
#define HTTP_EXIT_FAILED 3

/*
 * Handle one HTTP request. Returns 0 if an answer was sent. The answer may be
 * an error status; the log then has the reason. Returns a negative error code
 * if an error occurred after the headers were sent.
 *
 * If `is_kept` is not NULL, *is_kept is set to true if the client can send a
 * further request on the connection, else to false.
 */
int http_serve(const struct http_options *options, const struct serve_io *io,
	       bool *is_kept, struct error *err);

/*
 * Returns 1 if the repository has a file git-daemon-export-ok, 0 if not, or
 * ERR_NOMEM.
 */
int http_is_exported(const struct repo *repo, struct error *err);

#endif
