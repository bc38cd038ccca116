/* SPDX-License-Identifier: MIT */
/* Sends the headers and the body of an HTTP response. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "http/http-exchange.h"

#define YEAR 31536000 /* seconds */

void http_reply_init(struct http_reply *r, const struct serve_io *io,
		     bool no_body)
{
	*r = (struct http_reply){.io = io, .no_body = no_body};
	buf_init(&r->head);
}

void http_reply_release(struct http_reply *r)
{
	buf_release(&r->head);
}

int http_reply_header(struct http_reply *r, const char *name, const char *value,
		      struct error *err)
{
	return buf_printf(&r->head, "%s: %s\r\n", name, value) < 0
		       ? error_nomem(err)
		       : 0;
}

int http_reply_number(struct http_reply *r, const char *name, uint64_t value,
		      struct error *err)
{
	return buf_printf(&r->head, "%s: %" PRIu64 "\r\n", name, value) < 0
		       ? error_nomem(err)
		       : 0;
}

int http_reply_date(struct http_reply *r, const char *name, int64_t seconds,
		    struct error *err)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t t = (time_t)seconds;
	struct tm tm;

	/*
	 * gmtime_r() fails if the year does not fit into struct tm. The header
	 * is then left out.
	 */
	if (!gmtime_r(&t, &tm))
		return 0;
	return buf_printf(&r->head,
			  "%s: %.3s, %02d %.3s %d %02d:%02d:%02d GMT\r\n", name,
			  days + 3 * tm.tm_wday, tm.tm_mday,
			  months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour,
			  tm.tm_min, tm.tm_sec) < 0
		       ? error_nomem(err)
		       : 0;
}

int http_reply_never_cache(struct http_reply *r, struct error *err)
{
	int ret = http_reply_header(r, "Expires",
				    "Fri, 01 Jan 1980 00:00:00 GMT", err);

	if (!ret)
		ret = http_reply_header(r, "Pragma", "no-cache", err);
	if (!ret)
		ret = http_reply_header(r, "Cache-Control",
					"no-cache, max-age=0, must-revalidate",
					err);
	return ret;
}

int http_reply_cache_for_ever(struct http_reply *r, int64_t now,
			      struct error *err)
{
	int ret = http_reply_date(r, "Date", now, err);

	if (!ret)
		ret = http_reply_date(r, "Expires", now + YEAR, err);
	if (!ret)
		ret = http_reply_header(r, "Cache-Control",
					"public, max-age=31536000", err);
	return ret;
}

int http_reply_begin(struct http_reply *r, struct error *err)
{
	struct iovec iov[2];

	if (r->has_begun)
		return 0;
	r->has_begun = true;
	iov[0] = (struct iovec){r->head.data, r->head.len};
	iov[1] = (struct iovec){(char *)"\r\n", 2};
	return r->io->writev(r->io->ctx, iov, 2, err);
}

int http_reply_writev(void *ctx, struct iovec *iov, size_t nr,
		      struct error *err)
{
	struct http_reply *r = ctx;
	int ret = http_reply_begin(r, err);

	if (ret < 0 || r->no_body)
		return ret;
	for (size_t i = 0; r->tap && i < nr; i++)
		r->tap->bytes_sent += iov[i].iov_len;
	return r->io->writev(r->io->ctx, iov, nr, err);
}

int http_reply_send_file(struct http_reply *r, const void *head, size_t len,
			 const struct sys_file_span *span, struct error *err)
{
	int ret = http_reply_begin(r, err);

	if (ret < 0 || r->no_body)
		return ret;
	if (r->tap)
		r->tap->bytes_sent += len + span->len;
	return r->io->send_file(r->io->ctx, head, len, span, err);
}

int http_reply_put(struct http_reply *r, const void *bytes, size_t len,
		   struct error *err)
{
	struct iovec iov = {(void *)bytes, len};

	return http_reply_writev(r, &iov, 1, err);
}

int http_reply_refuse(struct http_reply *r, const char *status,
		      const char *allow, const char *text, struct error *err)
{
	int ret;

	buf_reset(&r->head);
	ret = http_reply_header(r, "Status", status, err);
	if (!ret && allow)
		ret = http_reply_header(r, "Allow", allow, err);
	if (!ret)
		ret = http_reply_never_cache(r, err);
	if (!ret && text)
		ret = http_reply_header(r, "Content-Type", "text/plain", err);
	if (!ret)
		ret = http_reply_begin(r, err);
	if (!ret && text)
		ret = http_reply_put(r, text, strlen(text), err);
	return ret;
}
