/* SPDX-License-Identifier: MIT */
/* Writes the framing of a chunked answer. */
#include "http1/chunk.h"

static void line_end(char **p)
{
	*(*p)++ = '\r';
	*(*p)++ = '\n';
}

size_t http1_chunk_head(char *out, uint64_t len, bool is_first)
{
	char *p = out;
	int shift = 60;

	if (!is_first)
		line_end(&p);
	while (shift && !(len >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[len >> shift & 15];
	line_end(&p);
	if (!len)
		line_end(&p);
	return (size_t)(p - out);
}
