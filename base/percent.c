/* SPDX-License-Identifier: MIT */
/* Percent-encoding. */
#include <string.h>

#include "base/percent.h"

int percent_encode(struct buf *out, const char *text, size_t len,
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

int percent_byte(const char *p)
{
	int high = *p == '%' ? hex_digit(p[1]) : -1;
	int low = high < 0 ? -1 : hex_digit(p[2]);

	return low < 0 ? -1 : high << 4 | low;
}

void percent_decode(char *text)
{
	char *out = text;

	for (; *text; text++) {
		int byte = percent_byte(text);

		*out++ = byte > 0 ? (char)byte : *text;
		text += byte > 0 ? 2 : 0;
	}
	*out = '\0';
}
