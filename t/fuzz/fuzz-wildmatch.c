/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for base/wildmatch.c. The input is a pattern, a NUL, and a text.
 * Clients can choose the patterns (sparse filters). The time limit of the
 * fuzzer finds patterns that take too long.
 */
#include "base/buf.h"
#include "base/wildmatch.h"
#include "t/fuzz/fuzz.h"

/*
 * Make a pattern of the characters of the text, with a backslash before each.
 * The pattern must match the text.
 */
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

		/*
		 * A pattern that matches must also match if case is ignored.
		 * Patterns with brackets are not checked: [^a] matches "A" only
		 * if case is not ignored.
		 */
		if (matches && !strpbrk(pattern, "["))
			require(wildmatch(pattern, text,
					  flags | WILDMATCH_ICASE));
		check_literal(text, flags);
	}
	free(pattern);
	return 0;
}
