/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for a chunked HTTP body. The body is read as a whole, byte by
 * byte, and by a slow and simple reader. All three results must agree.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "http1/body.h"
#include "t/fuzz/fuzz.h"

struct result {
	struct buf data;
	/* Number of input bytes up to the end of the body. */
	size_t used;
	/*
	 * 1: the body has ended. 0: the body is incomplete. ERR_PEER: the body
	 * is not valid.
	 */
	int ret;
};

/* Read the body. Each call of the tested reader gets at most `step` bytes. */
static void read_body(struct result *r, const char *bytes, size_t len,
		      size_t step)
{
	struct http1_head head = {.framing = HTTP1_CHUNKED};
	struct http1_body body;
	struct http1_piece piece;

	buf_init(&r->data);
	r->used = 0;
	http1_body_init(&body, &head);
	do {
		size_t left = len - r->used, n = left < step ? left : step;

		r->ret = http1_body_next(&body, bytes + r->used, n, &piece,
					 NULL);
		require(piece.off <= n && piece.len <= n - piece.off);
		require(r->ret >= 0 || (!piece.off && !piece.len));
		buf_append(&r->data, bytes + r->used + piece.off, piece.len);
		r->used += piece.off + piece.len;
	} while (!r->ret && r->used < len);
	if (!r->ret)
		r->ret = http1_body_next(&body, bytes + len, 0, &piece, NULL);
}

/*
 * Returns the length of the line at `p`, without CR LF. Returns -1 if the line
 * is incomplete or contains a byte that is not text.
 */
static ssize_t line_len(const char *p, const char *end)
{
	const char *lf = memchr(p, '\n', (size_t)(end - p));

	if (!lf || lf == p || lf[-1] != '\r')
		return -1;
	for (const char *q = p; q < lf - 1; q++)
		if (((unsigned char)*q < ' ' && *q != '\t') || *q == 0x7f)
			return -1;
	return lf - 1 - p;
}

/*
 * A slow and simple reader of a chunked body. Returns the end of the body, or
 * NULL if the body is incomplete or not valid.
 */
static const char *read_simply(struct buf *out, const char *p, const char *end)
{
	uint64_t size = 1, extra = 0;
	ssize_t len;

	while (size) {
		char digits[17] = "";
		size_t nr;

		len = line_len(p, end);
		if (len < 0)
			return NULL;
		for (nr = 0; nr < (size_t)len && p[nr] != ';'; nr++)
			if (nr == 16 ||
			    !strchr("0123456789abcdefABCDEF", p[nr]))
				return NULL;
		if (!nr)
			return NULL;
		memcpy(digits, p, nr);
		size = strtoull(digits, NULL, 16);
		extra += nr < (size_t)len ? (size_t)len - nr - 1 : 0;
		p += len + 2;
		if (!size)
			break;
		if ((uint64_t)(end - p) < size ||
		    (size_t)(end - p) - size < 2 || memcmp(p + size, "\r\n", 2))
			return NULL;
		buf_append(out, p, size);
		p += size + 2;
	}
	while ((len = line_len(p, end)) > 0 && *p != ' ' && *p != '\t') {
		extra += (size_t)len;
		p += len + 2;
	}
	return len || extra > HTTP1_BODY_EXTRA_MAX ? NULL : p + 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *p = (const char *)bytes, *end;
	struct result whole, slow;
	struct buf simple = BUF_INIT;

	read_body(&whole, p, len, len ? len : 1);
	read_body(&slow, p, len, 1);
	require(whole.ret == slow.ret);
	end = read_simply(&simple, p, p + len);
	require((end != NULL) == (whole.ret > 0));
	if (end) {
		require((size_t)(end - p) == whole.used);
		require(whole.used == slow.used);
		require(whole.data.len == simple.len &&
			slow.data.len == simple.len);
		require(!memcmp(whole.data.data, simple.data, simple.len) &&
			!memcmp(slow.data.data, simple.data, simple.len));
	}
	buf_release(&whole.data);
	buf_release(&slow.data);
	buf_release(&simple);
	return 0;
}
