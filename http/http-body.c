/* SPDX-License-Identifier: MIT */
/* Reads the body of an HTTP request, and decompresses it if necessary. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/mem.h"
#include "config/config.h"
#include "http/http-request.h"

struct http_body {
	const struct serve_io *io; /* borrowed */
	/* bytes of the body not read yet; UINT64_MAX: the length is unknown */
	uint64_t left;
	bool is_packed;
	/*
	 * true: the last read ended at the end of a gzip member; another may
	 * follow
	 */
	bool is_between;
	/* true: the last member of the gzip stream has ended */
	bool has_ended;
	z_stream stream; /* initialised if is_packed */
	uint8_t piece[HTTP_BODY_PIECE];
};

static int parse_length(uint64_t *left, const char *length, struct error *err)
{
	*left = UINT64_MAX;
	if (!length || !*length)
		return 0;
	if (strspn(length, "0123456789") != strlen(length) ||
	    config_parse_u64(left, length) < 0)
		return error_set(err, ERR_INVALID,
				 "failed to parse CONTENT_LENGTH: %s", length);
	return 0;
}

static int parse_encoding(bool *is_packed, const char *encoding,
			  struct error *err)
{
	*is_packed = false;
	if (!encoding || !*encoding || !strcasecmp(encoding, "identity"))
		return 0;
	if (strcasecmp(encoding, "gzip") && strcasecmp(encoding, "x-gzip"))
		return error_set(err, ERR_UNSUPPORTED,
				 "Content-Encoding '%.64s' is not supported",
				 encoding);
	*is_packed = true;
	return 0;
}

int http_body_open(struct http_body **out, const struct serve_io *io,
		   const char *length, const char *encoding, struct error *err)
{
	struct http_body *body = mem_calloc(1, sizeof(*body));
	bool is_packed = false;
	int ret;

	*out = NULL;
	if (!body)
		return error_nomem(err);
	body->io = io;
	ret = parse_length(&body->left, length, err);
	if (!ret)
		ret = parse_encoding(&is_packed, encoding, err);
	/* windowBits + 16: zlib expects a gzip header, not a zlib header. */
	if (!ret && is_packed &&
	    inflateInit2(&body->stream, MAX_WBITS + 16) != Z_OK)
		ret = error_nomem(err);
	if (ret < 0) {
		free(body);
		return ret;
	}
	body->is_packed = is_packed;
	*out = body;
	return 0;
}

void http_body_close(struct http_body *body)
{
	if (body && body->is_packed)
		inflateEnd(&body->stream);
	free(body);
}

/*
 * Read bytes of the body without decompression. Returns their number, 0 at the
 * end of the body, or a negative error code.
 */
static ssize_t read_raw(struct http_body *body, void *bytes, size_t len,
			struct error *err)
{
	ssize_t n;

	if (len > body->left)
		len = (size_t)body->left;
	if (!len)
		return 0;
	n = body->io->read(body->io->ctx, bytes, len, err);
	if (n > 0 && body->left != UINT64_MAX)
		body->left -= (uint64_t)n;
	return n;
}

/*
 * Make sure that the stream has compressed input. Returns 1 if it has, 0 at the
 * end of the body, or a negative error code.
 */
static int refill(struct http_body *body, struct error *err)
{
	ssize_t n;

	if (body->stream.avail_in)
		return 1;
	n = read_raw(body, body->piece, sizeof(body->piece), err);
	if (n <= 0)
		return (int)n;
	body->stream.next_in = body->piece;
	body->stream.avail_in = (uInt)n;
	return 1;
}

/*
 * After the end of a gzip member, prepare for another gzip member (RFC 1952,
 * 2.2). If other bytes or no bytes follow, set has_ended. Returns 0 or a
 * negative error code.
 */
static int next_member(struct http_body *body, struct error *err)
{
	int ret = refill(body, err);

	body->has_ended = ret <= 0 || *body->stream.next_in != 0x1f;
	body->is_between = false;
	if (ret > 0 && !body->has_ended)
		inflateReset(&body->stream);
	return ret < 0 ? ret : 0;
}

static ssize_t read_packed(struct http_body *body, void *bytes, uInt len,
			   struct error *err)
{
	z_stream *z = &body->stream;
	int ret;

	z->next_out = bytes;
	z->avail_out = len;
	while (!body->has_ended && z->avail_out == len) {
		ret = body->is_between ? next_member(body, err) : 0;
		if (ret < 0 || body->has_ended)
			return ret;
		ret = refill(body, err);
		if (!ret)
			return error_set(err, ERR_PEER,
					 "request ended in the middle of the "
					 "gzip stream");
		if (ret < 0)
			return ret;
		ret = inflate(z, Z_NO_FLUSH);
		if (ret == Z_MEM_ERROR)
			return error_nomem(err);
		if (ret != Z_OK && ret != Z_STREAM_END)
			return error_set(err, ERR_PEER,
					 "zlib error inflating request, "
					 "result %d",
					 ret);
		body->is_between = ret == Z_STREAM_END;
	}
	return (ssize_t)(len - z->avail_out);
}

ssize_t http_body_read(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct http_body *body = ctx;

	if (body->is_packed)
		return read_packed(body, bytes,
				   len < UINT32_MAX ? (uInt)len : UINT32_MAX,
				   err);
	return read_raw(body, bytes, len, err);
}

int http_body_read_all(struct http_body *body, struct buf *out, uint64_t max,
		       struct error *err)
{
	uint64_t total = 0;
	ssize_t n;

	do {
		if (buf_reserve(out, HTTP_BODY_PIECE) < 0)
			return error_nomem(err);
		n = http_body_read(body, out->data + out->len, HTTP_BODY_PIECE,
				   err);
		if (n < 0)
			return (int)n;
		total += (uint64_t)n;
		if (total > max)
			return error_set(
				err, ERR_DENIED,
				"request was larger than our maximum size "
				"(%" PRIu64 "); try setting "
				"GIT_HTTP_MAX_REQUEST_BUFFER",
				max);
		buf_set_len(out, out->len + (size_t)n);
	} while (n);
	return 0;
}
