/* SPDX-License-Identifier: MIT */
/* Tests whether a text begins or ends with another text. */
#ifndef BASE_AFFIX_H
#define BASE_AFFIX_H

#include <stdbool.h>
#include <string.h>

/* Returns whether `text` begins with `start`. A text begins with itself. */
static inline bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Returns whether `text` ends with `end`. A text ends with itself. */
static inline bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

#endif
