/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for reading the body of an HTTP request. The first byte of the
 * input chooses whether the body is compressed, has a length, and arrives in
 * small pieces. The rest of the input is the body. Reading the body as a whole
 * and piece by piece must give the same bytes. If the body is not compressed,
 * these bytes must be the rest of the input, up to the stated length.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http-request.h"
#include "t/fuzz/fuzz.h"

enum {
	CHOOSE_GZIP = 1 << 0,
	/*
	 * The request states a length, which is one less than the real length.
	 */
	CHOOSE_LENGTH = 1 << 1,
	CHOOSE_SMALL_PIECES = 1 << 2,
	UNPACKED_MAX = 1 << 20,
};

/*
 * Read the whole body into *out. If `step` is not 0, each read asks for `step`
 * bytes. Returns the value of the last read.
 */
static int read_body(struct buf *out, uint8_t choice, const uint8_t *bytes,
		     size_t len, size_t step)
{
	struct fuzz_input in = {bytes, bytes + len,
				choice & CHOOSE_SMALL_PIECES ? 3 : 0};
	const struct serve_io io = {.read = fuzz_input_read, .ctx = &in};
	struct http_body *body;
	char length[24], piece[64];
	ssize_t n = 1;
	int ret;

	snprintf(length, sizeof(length), "%zu", len ? len - 1 : 0);
	require(!http_body_open(&body, &io,
				choice & CHOOSE_LENGTH ? length : NULL,
				choice & CHOOSE_GZIP ? "gzip" : NULL, NULL));
	if (!step) {
		ret = http_body_read_all(body, out, UNPACKED_MAX, NULL);
	} else {
		while (out->len <= UNPACKED_MAX &&
		       (n = http_body_read(body, piece, step, NULL)) > 0)
			require(!buf_append(out, piece, (size_t)n));
		ret = n < 0 ? (int)n : n > 0 ? ERR_DENIED : 0;
	}
	http_body_close(body);
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	uint8_t choice = len ? *bytes : 0;
	struct buf all = BUF_INIT, pieces = BUF_INIT;
	int at_once, by_piece;

	bytes += len > 0;
	len -= len > 0;
	at_once = read_body(&all, choice, bytes, len, 0);
	by_piece = read_body(&pieces, choice, bytes, len, 7);
	require(at_once == by_piece);
	require(at_once || all.len == pieces.len);
	require(at_once || !all.len || !memcmp(all.data, pieces.data, all.len));
	if (!(choice & CHOOSE_GZIP) && !at_once)
		require(all.len <= len &&
			(!all.len || !memcmp(all.data, bytes, all.len)));
	buf_release(&all);
	buf_release(&pieces);
	return 0;
}
