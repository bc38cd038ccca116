/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the packet reader: the input is a stream of packets
 * (pkt-lines). The first byte is the number of bytes that one read returns. The
 * reader must return the same packets as a parser that gets all bytes at once.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "t/fuzz/fuzz.h"
#include "wire/pktline.h"

static void check_same(const struct pktline *read, const struct pktline *parsed)
{
	size_t len = parsed->len;

	if (len && parsed->data[len - 1] == '\n')
		len--;
	require(read->kind == parsed->kind);
	require(read->len == len && !read->data[len]);
	require(!memcmp(read->data, parsed->data, len));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input in = {bytes + 1, bytes + len, 0};
	struct serve_io io = {.read = fuzz_input_read, .ctx = &in};
	struct pktline_reader r;
	struct cursor c;
	int ret;

	if (!len)
		return 0;
	in.piece = (size_t)bytes[0] * bytes[0] + 1;
	c = cursor_make(bytes + 1, len - 1);
	require(pktline_reader_init(&r, &io) == 0);
	do {
		char quoted[PKTLINE_QUOTE_MAX];
		struct pktline parsed, read;
		int got;

		ret = pktline_parse(&parsed, &c, NULL);
		got = pktline_read(&r, &read, NULL);
		require(got <= 0 && (ret >= 0 || got == ret));
		if (ret > 0) {
			require(got == 0);
			check_same(&read, &parsed);
			pktline_quote(quoted, read.data);
		} else if (!ret) {
			require(r.ended);
			require(got == (cursor_left(&c) ? ERR_PEER : 0));
		}
	} while (ret > 0);
	pktline_reader_release(&r);
	return 0;
}
