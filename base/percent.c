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

void percent_decode(char *text)
{
	char *out = text;

	for (; *text; text++) {
		int high = *text == '%' ? hex_digit(text[1]) : -1;
		int low = high >= 0 ? hex_digit(text[2]) : -1;

		if (low >= 0 && (high || low)) {
			*out++ = (char)(high << 4 | low);
			text += 2;
		} else {
			*out++ = *text;
		}
	}
	*out = '\0';
}
