/* SPDX-License-Identifier: MIT */
/* Quoted strings. */
#include <string.h>

#include "base/error.h"
#include "base/unquote.h"

/*
 * Decodes the escape whose backslash was read. Returns the byte, or -1 if the
 * escape is invalid.
 */
static int unescape(const char **p)
{
	static const char from[] = "abfnrtv\\\"", to[] = "\a\b\f\n\r\t\v\\\"";
	const char *at = **p ? strchr(from, **p) : NULL;
	int v = 0;

	if (at) {
		(*p)++;
		return (unsigned char)to[at - from];
	}
	if (**p > '3')
		return -1;
	for (int i = 0; i < 3; i++, (*p)++) {
		if (**p < '0' || **p > '7')
			return -1;
		v = v * 8 + (**p - '0');
	}
	return v;
}

int unquote_c(struct buf *out, const char *text, const char **end)
{
	const char *p = text;

	if (*p++ != '"')
		return ERR_INVALID;
	while (*p != '"') {
		int c = (unsigned char)*p;

		if (!c)
			return ERR_INVALID;
		p++;
		if (c == '\\')
			c = unescape(&p);
		if (c < 0)
			return ERR_INVALID;
		if (buf_append_char(out, (char)c) < 0)
			return ERR_NOMEM;
	}
	p++;
	if (!end)
		return *p ? ERR_INVALID : 0;
	*end = p;
	return 0;
}
