/* SPDX-License-Identifier: MIT */
/* Relative paths. */
#include <stddef.h>

#include "base/relpath.h"

/* Returns the length of the leading components that both paths share. */
static size_t common_len(const char *a, const char *b)
{
	size_t common = 0, i = 0;

	for (; a[i] && a[i] == b[i]; i++)
		if (a[i] == '/')
			common = i;
	if ((!a[i] || a[i] == '/') && (!b[i] || b[i] == '/'))
		common = i;
	return common;
}

int relpath_append(struct buf *out, const char *from, const char *to)
{
	size_t common = common_len(from, to);
	size_t start = out->len;
	int ret = 0;

	if (!common)
		return buf_append_str(out, to);
	for (const char *p = from + common; *p && !ret; p++)
		if (*p == '/' && p[1])
			ret = buf_append_str(out,
					     out->len > start ? "/.." : "..");
	to += common;
	to += *to == '/';
	if (!ret && *to && out->len > start)
		ret = buf_append_char(out, '/');
	if (!ret)
		ret = buf_append_str(out, *to || out->len > start ? to : ".");
	return ret;
}
