/* SPDX-License-Identifier: MIT */
/* Quoting of paths. */
#include <string.h>

#include "builtin/quote.h"

static const char controls[] = "\a\b\t\n\v\f\r\"\\";
static const char letters[] = "abtnvfr\"\\";

static bool needs_quotes(unsigned char c, bool high)
{
	return c < ' ' || c == 0x7f || c == '"' || c == '\\' ||
	       (high && c >= 0x80);
}

static int append_byte(struct buf *out, char c, bool high)
{
	const char *control;

	if (!needs_quotes((unsigned char)c, high))
		return buf_append_char(out, c);
	control = c ? strchr(controls, c) : NULL;
	if (control)
		return buf_printf(out, "\\%c", letters[control - controls]);
	return buf_printf(out, "\\%03o", (unsigned)(unsigned char)c);
}

int quote_path_append(struct buf *out, const char *path, size_t len, bool high)
{
	size_t i = 0;
	int ret;

	while (i < len && !needs_quotes((unsigned char)path[i], high))
		i++;
	if (i == len)
		return buf_append(out, path, len);
	ret = buf_append_char(out, '"');
	for (i = 0; !ret && i < len; i++)
		ret = append_byte(out, path[i], high);
	return ret ? ret : buf_append_char(out, '"');
}
