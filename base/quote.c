/* SPDX-License-Identifier: MIT */
/* Percent-encoding of texts, and decoding of strings in double quotes. */
#include <string.h>

#include "base/quote.h"
#include "base/error.h"

int quote_percent(struct buf *out, const char *text, size_t len,
		  const char *reserved)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < len; i++) {
		char c = text[i];

		if (c <= ' ' || c > '~' || c == '%' || strchr(reserved, c))
			ret = buf_printf(out, "%%%02x", (unsigned char)c);
		else
			ret = buf_append_char(out, c);
	}
	return ret;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int quote_percent_byte(const char *p)
{
	int high = *p == '%' ? hex_digit(p[1]) : -1;
	int low = high < 0 ? -1 : hex_digit(p[2]);

	return low < 0 ? -1 : high << 4 | low;
}

void quote_undo_percent(char *text)
{
	char *out = text;

	for (; *text; text++) {
		int byte = quote_percent_byte(text);

		*out++ = byte > 0 ? (char)byte : *text;
		text += byte > 0 ? 2 : 0;
	}
	*out = '\0';
}

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

int quote_undo_c(struct buf *out, const char *text, const char **end)
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
