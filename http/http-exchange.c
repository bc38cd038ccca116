/* SPDX-License-Identifier: MIT */
/*
 * Functions for HTTP responses to smart and to dumb clients: sending an error
 * status, and loading the configuration.
 */
#include <stdarg.h>

#include "http/http-exchange.h"
#include "wire/visible.h"

#define DEFAULT_REQUEST_BUFFER (UINT64_C(10) << 20)

int http_refuse(struct http_exchange *x, const char *status, struct error *err,
		const char *fmt, ...)
{
	struct buf line = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	if (!buf_vprintf(&line, fmt, ap))
		x->options->log(x->options->ctx, line.data);
	va_end(ap);
	buf_release(&line);
	return http_reply_refuse(&x->reply, status, NULL, NULL, err);
}

int http_refuse_user(struct http_exchange *x, const char *status,
		     const char *reason, const char *what, struct error *err)
{
	const struct http_options *o = x->options;

	/*
	 * Git's first request never has a password. So status 401 asks for one,
	 * and is not logged as a refusal.
	 */
	if (o->challenge && !o->remote_user)
		return http_reply_refuse(&x->reply, "401 Unauthorized", NULL,
					 NULL, err);
	return http_refuse(x, status, err, "%s: '%s'", reason, what);
}

int http_configure(struct http_exchange *x, struct error *err)
{
	const struct http_options *o = x->options;
	const struct config *config = &x->repo->config;
	const char *max = o->max_request_buffer;
	int ret;

	x->get_any_file = x->upload_pack = true;
	x->receive_pack = o->remote_user && *o->remote_user;
	x->request_buffer = DEFAULT_REQUEST_BUFFER;
	ret = config_bool(config, "http.getanyfile", &x->get_any_file, err);
	if (ret >= 0)
		ret = config_bool(config, "http.uploadpack", &x->upload_pack,
				  err);
	if (ret >= 0)
		ret = config_bool(config, "http.receivepack", &x->receive_pack,
				  err);
	if (ret >= 0)
		ret = config_bool(config, "http.uploadarchive",
				  &x->upload_archive, err);
	if (ret >= 0)
		ret = config_u64(config, "http.maxrequestbuffer",
				 &x->request_buffer, err);
	if (ret >= 0 && max && config_parse_u64(&x->request_buffer, max) < 0)
		return error_set(err, ERR_INVALID,
				 "failed to parse GIT_HTTP_MAX_REQUEST_BUFFER");
	return ret < 0 ? ret : 0;
}

int http_may_get_files(const struct http_exchange *x, struct error *err)
{
	bool is_limit = false;
	int ret = x->get_any_file ? visible_is_limit(&is_limit, x->repo, err)
				  : 0;

	/*
	 * The key VISIBLE_LIMIT_KEY may say whether clients only get objects
	 * that refs reach. If the key is not set, the limit holds for a member
	 * of a fork network, because a member's alternates have objects of
	 * other repositories.
	 *
	 * Without the key, visible_is_limit() fails for two reasons: memory has
	 * run out, or objects/info/alternates cannot be read. In the second
	 * case the error is ignored. A repository whose alternates file cannot
	 * be read borrows no objects: it has only its own objects, so its files
	 * may be served.
	 */
	if (ret < 0 && (ret == ERR_NOMEM ||
			config_find(&x->repo->config, VISIBLE_LIMIT_KEY)))
		return ret;
	return x->get_any_file && !is_limit;
}
