/* SPDX-License-Identifier: MIT */
/* The form of reference names: the rules of git-check-ref-format(1). */
#include <stdint.h>
#include <string.h>

#include "object/refs-name.h"

/* What a byte above the blank is in a name. */
enum byte_kind { PLAIN, FORBIDDEN, DOT, BRACE, SLASH };

static const uint8_t byte_kinds[256] = {
	['~'] = FORBIDDEN,  ['^'] = FORBIDDEN,  [':'] = FORBIDDEN,
	['?'] = FORBIDDEN,  ['*'] = FORBIDDEN,  ['['] = FORBIDDEN,
	['\\'] = FORBIDDEN, [0x7f] = FORBIDDEN, ['.'] = DOT,
	['{'] = BRACE,      ['/'] = SLASH,
};

/* A component neither is empty nor looks like a lock. */
static bool end_is_valid(const char *component, size_t len)
{
	static const char lock[] = ".lock";
	size_t lock_len = sizeof(lock) - 1;

	return len && (len < lock_len ||
		       memcmp(component + len - lock_len, lock, lock_len) != 0);
}

/* One pass, since every ref that is shown comes through here. */
bool refs_name_is_valid_len(const char *name, size_t len, bool one_level)
{
	size_t levels = 1, start = 0;

	if (!len || name[len - 1] == '.' || (len == 1 && name[0] == '@'))
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c <= ' ')
			return false;
		switch (byte_kinds[c]) {
		case FORBIDDEN:
			return false;
		case DOT:
			if (i == start || name[i - 1] == '.')
				return false;
			break;
		case BRACE:
			if (i && name[i - 1] == '@')
				return false;
			break;
		case SLASH:
			if (!end_is_valid(name + start, i - start))
				return false;
			start = i + 1;
			levels++;
			break;
		}
	}
	return end_is_valid(name + start, len - start) &&
	       (one_level || levels > 1);
}

bool refs_name_is_valid(const char *name)
{
	return refs_name_is_valid_len(name, strlen(name), false);
}

bool refs_name_is_root(const char *name)
{
	static const char *const others[] = {
		"AUTO_MERGE",      "BISECT_EXPECTED_REV", "NOTES_MERGE_PARTIAL",
		"NOTES_MERGE_REF", "MERGE_AUTOSTASH",
	};
	size_t len = strlen(name), suffix_len = strlen("_HEAD");

	if (name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_")] ||
	    !strcmp(name, "FETCH_HEAD") || !strcmp(name, "MERGE_HEAD"))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]))
			return true;
	return !strcmp(name, "HEAD") ||
	       (len >= suffix_len && !strcmp(name + len - suffix_len, "_HEAD"));
}

bool refs_name_is_head(const char *name)
{
	const char *slash = strrchr(name, '/');

	return !strcmp(name, "HEAD") || (slash && !strcmp(slash, "/HEAD") &&
					 strncmp(name, "refs/", 5) != 0);
}
