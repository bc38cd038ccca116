/* SPDX-License-Identifier: MIT */
/* Sends the headers and the body of an HTTP response. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "http/http-exchange.h"
#include "http1/body.h"
#include "sys/clock.h"

#define YEAR 31536000 /* seconds */

/* maximum number of spans of the body that one write sends */
#define GROUP 64

/*
 * number of spans before the body: status line, headers, empty line, head of a
 * chunk
 */
#define BEFORE 4

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

int http_reply_length(struct http_reply *r, uint64_t len, struct error *err)
{
	r->has_length = true;
	return http_reply_number(r, "Content-Length", len, err);
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

	r->has_date = true;
	if (!ret)
		ret = http_reply_date(r, "Expires", now + YEAR, err);
	if (!ret)
		ret = http_reply_header(r, "Cache-Control",
					"public, max-age=31536000", err);
	return ret;
}

/*
 * Add the headers of HTTP/1.x about the connection and the end of the body.
 * Decides whether the connection can be used for a further request.
 */
static int add_framing(struct http_reply *r, struct error *err)
{
	int ret = r->has_date ? 0
			      : http_reply_date(r, "Date", sys_clock_seconds(),
						err);

	r->is_chunked = r->form == HTTP_1_1 && !r->has_length;
	r->keep_alive = r->keep_alive && (r->is_chunked || r->has_length);
	if (!ret && r->is_chunked)
		ret = http_reply_header(r, "Transfer-Encoding", "chunked", err);
	if (!ret && !r->keep_alive)
		ret = http_reply_header(r, "Connection", "close", err);
	if (!ret && r->keep_alive && r->form == HTTP_1_0)
		ret = http_reply_header(r, "Connection", "keep-alive", err);
	return ret;
}

/*
 * Set iov[0] to the status line, iov[1] to the headers, and iov[2] to the empty
 * line after them. The status line is printed to `line`. Returns 0 or
 * ERR_NOMEM.
 */
static int begin(struct http_reply *r, struct iovec *iov, char line[128],
		 struct error *err)
{
	int len = 0;

	if (r->form != HTTP_CGI) {
		if (add_framing(r, err) < 0)
			return ERR_NOMEM;
		len = snprintf(line, 128, "HTTP/1.1 %.100s\r\n",
			       r->status ? r->status : "200 OK");
	} else if (r->status) {
		len = snprintf(line, 128, "Status: %.100s\r\n", r->status);
	}
	iov[0] = (struct iovec){line, (size_t)len};
	iov[1] = (struct iovec){r->head.data, r->head.len};
	iov[2] = (struct iovec){(char *)"\r\n", 2};
	r->has_begun = true;
	return 0;
}

/*
 * Send `nr` spans (at most GROUP) of the body. Before them, send the headers if
 * they were not sent yet, and the head of a chunk of `len` bytes if the body is
 * chunked. The spans may be only the first part of the chunk. If `is_last` is
 * set, the end of the body follows. Returns 0 or a negative error code.
 */
static int send_spans(struct http_reply *r, const struct iovec *iov, size_t nr,
		      size_t len, bool is_last, struct error *err)
{
	struct iovec all[BEFORE + GROUP + 1];
	char line[128], chunk[HTTP1_CHUNK_HEAD_MAX], end[HTTP1_CHUNK_HEAD_MAX];
	size_t n = 0;

	if (!r->has_begun) {
		if (begin(r, all, line, err) < 0)
			return ERR_NOMEM;
		n = 3;
	}
	if (r->no_body)
		nr = 0;
	else if (r->is_chunked && len) {
		all[n].iov_len = http1_chunk_head(chunk, len, !r->has_chunk);
		all[n++].iov_base = chunk;
		r->has_chunk = true;
	}
	for (size_t i = 0; i < nr; i++)
		all[n++] = iov[i];
	if (is_last && r->is_chunked && !r->no_body) {
		all[n].iov_len = http1_chunk_head(end, 0, !r->has_chunk);
		all[n++].iov_base = end;
	}
	r->has_ended = is_last;
	return n ? r->io->writev(r->io->ctx, all, n, err) : 0;
}

int http_reply_begin(struct http_reply *r, struct error *err)
{
	return r->has_begun ? 0 : send_spans(r, NULL, 0, 0, false, err);
}

static size_t total(const struct iovec *iov, size_t nr)
{
	size_t len = 0;

	for (size_t i = 0; i < nr; i++)
		len += iov[i].iov_len;
	return len;
}

int http_reply_writev(void *ctx, struct iovec *iov, size_t nr,
		      struct error *err)
{
	struct http_reply *r = ctx;
	int ret;

	if (r->has_begun && !r->is_chunked && !r->no_body) {
		if (r->tap)
			r->tap->bytes_sent += total(iov, nr);
		return r->io->writev(r->io->ctx, iov, nr, err);
	}
	do {
		size_t n = nr < GROUP ? nr : GROUP, len = total(iov, n);

		if (r->tap && !r->no_body)
			r->tap->bytes_sent += len;
		ret = send_spans(r, iov, n, len, false, err);
		iov += n;
		nr -= n;
	} while (!ret && nr);
	return ret;
}

int http_reply_writev_last(void *ctx, struct iovec *iov, size_t nr,
			   struct error *err)
{
	struct http_reply *r = ctx;
	size_t len = total(iov, nr);

	if (nr > GROUP)
		return http_reply_writev(r, iov, nr, err);
	if (r->tap && !r->no_body)
		r->tap->bytes_sent += len;
	return send_spans(r, iov, nr, len, true, err);
}

int http_reply_send_file(struct http_reply *r, const void *head, size_t len,
			 const struct sys_file_span *span, struct error *err)
{
	struct iovec iov = {(void *)head, len};
	int ret = 0;

	if (r->tap && !r->no_body)
		r->tap->bytes_sent += len + span->len;
	if (!r->has_begun || r->is_chunked || r->no_body) {
		ret = send_spans(r, &iov, 1, len + span->len, false, err);
		len = 0;
	}
	if (ret < 0 || r->no_body)
		return ret;
	return r->io->send_file(r->io->ctx, head, len, span, err);
}

int http_reply_emit(struct http_reply *r, const struct serve_span *span,
		    struct error *err)
{
	struct iovec line_end = {(char *)"\r\n", 2};
	struct serve_span chunks = *span;
	int ret = http_reply_begin(r, err);

	if (ret < 0 || r->no_body)
		return ret;
	if (r->tap)
		r->tap->bytes_sent += pktline_span_len(span);
	if (r->has_chunk)
		ret = r->io->writev(r->io->ctx, &line_end, 1, err);
	r->has_chunk = false;
	chunks.is_chunked = r->is_chunked;
	return ret < 0 ? ret : r->io->emit(r->io->ctx, &chunks, err);
}

int http_reply_end(struct http_reply *r, struct error *err)
{
	return r->has_ended ? 0 : send_spans(r, NULL, 0, 0, true, err);
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
	char seconds[16];
	int ret = 0;

	buf_reset(&r->head);
	r->status = status;
	r->has_length = r->has_date = false;
	/*
	 * A CGI program need not send Content-Length: the web server adds it.
	 */
	if (r->form != HTTP_CGI)
		ret = http_reply_length(r, text ? strlen(text) : 0, err);
	if (!ret && r->challenge && !strncmp(status, "401", 3))
		ret = http_reply_header(r, "WWW-Authenticate", r->challenge,
					err);
	if (!ret && r->retry_after && !strncmp(status, "429", 3)) {
		snprintf(seconds, sizeof(seconds), "%u", r->retry_after);
		ret = http_reply_header(r, "Retry-After", seconds, err);
	}
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
