/* SPDX-License-Identifier: MIT */
/* The form of reference names: the rules of git-check-ref-format(1). */
#include <string.h>

#include "object/refs-name.h"

static bool byte_is_allowed(unsigned char c)
{
	return c > ' ' && c != 0x7f && !strchr("~^:?*[\\", c);
}

static bool component_is_valid(const char *c, size_t len)
{
	static const char lock[] = ".lock";
	size_t lock_len = sizeof(lock) - 1;
	size_t i;

	if (!len || c[0] == '.')
		return false;
	if (len >= lock_len && !memcmp(c + len - lock_len, lock, lock_len))
		return false;
	for (i = 0; i < len; i++) {
		if (!byte_is_allowed((unsigned char)c[i]))
			return false;
		if (!i)
			continue;
		if (c[i - 1] == '.' && c[i] == '.')
			return false;
		if (c[i - 1] == '@' && c[i] == '{')
			return false;
	}
	return true;
}

bool refs_name_is_valid_len(const char *name, size_t len, bool one_level)
{
	size_t levels = 0, start = 0;

	if (!len || name[len - 1] == '.' || (len == 1 && name[0] == '@'))
		return false;
	for (;;) {
		const char *slash = memchr(name + start, '/', len - start);
		size_t end = slash ? (size_t)(slash - name) : len;

		if (!component_is_valid(name + start, end - start))
			return false;
		levels++;
		if (!slash)
			return one_level || levels > 1;
		start = end + 1;
	}
}

bool refs_name_is_valid(const char *name)
{
	return refs_name_is_valid_len(name, strlen(name), false);
}
