/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for POSIX extended regular expressions, which the program
 * rewrites as PCRE2 patterns. The input up to its first NUL is the expression;
 * the rest is a name. The rewritten pattern is compiled and matched with the
 * name.
 */
#include "base/pattern.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct error err = ERROR_INIT;
	struct pattern *pattern;
	const char *name;
	char *text = malloc(len + 2);

	require(text);
	if (len)
		memcpy(text, data, len);
	text[len] = text[len + 1] = '\0';
	name = text + strlen(text) + 1;
	if (name > text + len)
		name = text + len;
	if (!pattern_new(&pattern, text, false, &err)) {
		struct buf captured = BUF_INIT;

		if (pattern_match(pattern, name, strlen(name), &err) > 0)
			require(!pattern_captures(&captured, pattern, name));
		buf_release(&captured);
		pattern_free(pattern);
	}
	free(text);
	return 0;
}
