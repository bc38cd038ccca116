/* SPDX-License-Identifier: MIT */
/*
 * Handles one HTTP request. Each step may fail, and then the client gets a
 * status:
 *
 *	step                    status on failure
 *	----------------------  -----------------------------------------
 *	get the path on disk    500 for a bad web server setup, or for a
 *	                        path with ".." or "//", as in stock Git
 *	find the route          404
 *	check the method        405; 400 without HTTP/1.1
 *	open the repository     404 if it does not exist or is not exported
 *	load its configuration  500
 *	is the service enabled  403
 *	read the body           415, 413, 400
 *
 * If the client should send a password, the status is 401 instead of 404 for
 * the repository or 403 for the service. Any other error gives status 500. If
 * an error occurs after the headers were sent, the client gets only the first
 * part of the answer.
 */
#include <string.h>

#include "http/http-exchange.h"
#include "sys/io.h"
#include "wire/pktline.h"
#include "wire/summary.h"

static int refuse_alias(const char *path, struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];

	return error_set(err, ERR_INVALID, "'%s': aliased",
			 pktline_quote(quoted, path));
}

/*
 * Append PATH_TRANSLATED, the path on disk that the web server computed.
 * Returns 0, ERR_NOMEM, or another negative error code if the path is missing
 * or has a component "..".
 */
static int locate_translated(struct buf *path, const char *translated,
			     struct error *err)
{
	if (!translated || !*translated)
		return error_set(err, ERR_INVALID,
				 "No GIT_PROJECT_ROOT or PATH_TRANSLATED from "
				 "server");
	if (http_path_climbs(translated))
		return refuse_alias(translated, err);
	return buf_append_str(path, translated) < 0 ? error_nomem(err) : 0;
}

/*
 * Append to *path the path on disk that the request names. Returns 0 or a
 * negative error code.
 */
static int locate(struct buf *path, const struct http_options *o,
		  struct error *err)
{
	const char *root = o->project_root, *info = o->path_info;
	size_t len;

	if (!root || !*root)
		return locate_translated(path, o->path_translated, err);
	if (!info || !*info)
		return error_set(err, ERR_INVALID,
				 "GIT_PROJECT_ROOT is set but PATH_INFO is "
				 "not");
	if (!http_path_is_plain(info))
		return refuse_alias(info, err);
	for (len = strlen(root); len > 1 && root[len - 1] == '/';)
		len--;
	if (buf_append(path, root, len) < 0 || buf_append_str(path, info) < 0)
		return error_nomem(err);
	return 0;
}

static bool is_service(enum http_route route)
{
	return route == HTTP_UPLOAD_PACK || route == HTTP_RECEIVE_PACK ||
	       route == HTTP_UPLOAD_ARCHIVE;
}

/*
 * Returns 1 if the route allows the request's method, 0 if not (an error status
 * was sent), or a negative error code.
 */
static int check_method(struct http_exchange *x, struct error *err)
{
	const char *method = x->options->request_method;
	const char *protocol = x->options->server_protocol;
	bool is_post = is_service(x->url.route);

	if (is_post ? !strcmp(method, "POST")
		    : !strcmp(method, "GET") || !strcmp(method, "HEAD"))
		return 1;
	if (!protocol || strcmp(protocol, "HTTP/1.1"))
		return http_reply_refuse(&x->reply, "400 Bad Request", NULL,
					 NULL, err);
	return http_reply_refuse(&x->reply, "405 Method Not Allowed",
				 is_post ? "POST" : "GET, HEAD", NULL, err);
}

int http_is_exported(const struct repo *repo, struct error *err)
{
	struct buf path = BUF_INIT;
	/*
	 * Use the full path: a server with threads does not change the working
	 * directory.
	 */
	int ret = buf_printf(&path, "%s/git-daemon-export-ok", repo->git_dir);

	ret = ret < 0 ? error_nomem(err) : sys_exists(path.data);
	buf_release(&path);
	return ret;
}

/*
 * Open the repository at `path`. Returns 1 if the repository exists and is
 * exported, 0 if not (an error status was sent), or a negative error code.
 */
static int enter(struct http_exchange *x, struct buf *path, struct error *err)
{
	const struct http_options *o = x->options;
	int ret;

	/*
	 * Overwrite only the slash after the path of the repository: the bytes
	 * after it are still needed, because url.name points to them.
	 */
	path->data[x->url.repo_len] = '\0';
	ret = o->enter(o->ctx, path->data, &x->repo, err);
	if (ret == ERR_MISSING)
		return http_refuse_user(x, "404 Not Found",
					"Not a git repository", path->data,
					err);
	if (ret < 0)
		return ret;
	ret = o->export_all ? 1 : http_is_exported(x->repo, err);
	if (!ret)
		return http_refuse_user(x, "404 Not Found",
					"Repository not exported", path->data,
					err);
	return ret;
}

/*
 * Answer a dumb client, and write a summary of the request to the trace, as
 * upload-pack and receive-pack do. A refused request has no summary.
 */
static int dumb(struct http_exchange *x, struct error *err)
{
	struct summary summary;
	int ret = http_may_get_files(x, err);

	if (!ret)
		return http_refuse(x, "403 Forbidden", err,
				   "Unsupported service: getanyfile");
	summary_init(&summary, x->repo, x->options->about, "http-backend");
	x->reply.tap = summary_tap(&summary);
	summary_begin(&summary, "get");
	summary_phase(&summary, SUMMARY_ANSWER);
	summary_string(&summary, SUMMARY_FILE, x->url.name);
	ret = ret < 0 ? ret : http_dumb(x, err);
	x->reply.tap = NULL;
	if (!x->io->end_later ||
	    !x->io->end_later(x->io->ctx, &summary, ret < 0))
		summary_end(&summary, ret < 0 ? err : NULL);
	summary_release(&summary);
	return ret;
}

static int dispatch(struct http_exchange *x, struct error *err)
{
	struct buf service = BUF_INIT;
	int ret;

	if (is_service(x->url.route))
		return http_smart_serve(x, err);
	if (x->url.route != HTTP_INFO_REFS)
		return dumb(x, err);
	ret = http_query_get(&service, x->options->query_string, "service");
	if (ret < 0)
		ret = error_nomem(err);
	else
		ret = ret ? http_smart_advertise(x, service.data, err)
			  : dumb(x, err);
	buf_release(&service);
	return ret;
}

static int answer(struct http_exchange *x, struct buf *path, struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];
	int ret;

	if (!x->options->request_method)
		return error_set(err, ERR_INVALID,
				 "No REQUEST_METHOD from server");
	ret = locate(path, x->options, err);
	if (ret < 0)
		return ret;
	if (!http_url_parse(&x->url, path->data))
		return http_refuse(x, "404 Not Found", err,
				   "Request not supported: '%s'",
				   pktline_quote(quoted, path->data));
	ret = check_method(x, err);
	if (ret > 0)
		ret = enter(x, path, err);
	if (ret <= 0)
		return ret;
	ret = http_configure(x, err);
	return ret < 0 ? ret : dispatch(x, err);
}

int http_serve(const struct http_options *options, const struct serve_io *io,
	       bool *is_kept, struct error *err)
{
	const char *method = options->request_method;
	struct http_exchange x = {.options = options, .io = io};
	struct error own = ERROR_INIT;
	struct buf path = BUF_INIT;
	int ret;

	http_reply_init(&x.reply, io, method && !strcmp(method, "HEAD"));
	x.reply.form = options->form;
	x.reply.keep_alive = options->keep_alive;
	x.reply.challenge = options->challenge;
	ret = answer(&x, &path, &own);
	if (ret < 0 && !x.reply.has_begun)
		ret = http_refuse(&x,
				  ret == ERR_PEER ? "400 Bad Request"
						  : "500 Internal Server Error",
				  &own, "fatal: %s", own.msg);
	if (!ret)
		ret = http_reply_end(&x.reply, &own);
	if (ret < 0 && err)
		*err = own;
	if (is_kept)
		*is_kept = (!ret || x.reply.has_ended) && x.reply.keep_alive;
	http_reply_release(&x.reply);
	buf_release(&path);
	return ret;
}
