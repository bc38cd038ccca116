/* SPDX-License-Identifier: MIT */
/*
 * base/wildmatch.c: a pattern, a NUL, and a text. Patterns come from blobs that
 * clients name in filters; what takes too long is found by the fuzzer's limit.
 */
#include "base/buf.h"
#include "base/wildmatch.h"
#include "t/fuzz/fuzz.h"

/* Each of its characters, and nothing else, by a backslash before it. */
static void check_literal(const char *text, unsigned flags)
{
	struct buf pattern = BUF_INIT;

	for (const char *p = text; *p; p++)
		if (buf_append_char(&pattern, '\\') < 0 ||
		    buf_append_char(&pattern, *p) < 0)
			break;
	if (pattern.len == 2 * strlen(text) && pattern.len)
		require(wildmatch(pattern.data, text, flags));
	buf_release(&pattern);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *pattern = calloc(len + 2, 1), *text;

	if (!pattern)
		return 0;
	if (len)
		memcpy(pattern, data, len);
	text = pattern + strlen(pattern) + 1;
	for (unsigned flags = 0; flags < 4; flags++) {
		bool matches = wildmatch(pattern, text, flags);

		/* Letters of either case match no less. */
		if (matches && !strpbrk(pattern, "["))
			require(wildmatch(pattern, text,
					  flags | WILDMATCH_ICASE));
		check_literal(text, flags);
	}
	free(pattern);
	return 0;
}
