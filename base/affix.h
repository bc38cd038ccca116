/* SPDX-License-Identifier: MIT */
/*
 * Tests whether a text begins or ends with another text, and finds the rest.
 */
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

/*
 * Returns the text after "<word> ", or NULL if `line` does not begin with
 * "<word> ".
 */
static inline const char *after_word(const char *line, const char *word)
{
	size_t len = strlen(word);

	return strncmp(line, word, len) || line[len] != ' ' ? NULL
							    : line + len + 1;
}

/*
 * Returns whether a path or ref name is `dir` itself, or is below it: the name
 * begins with "<dir>/".
 */
static inline bool is_at_or_below(const char *name, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(name, dir, len) && (!name[len] || name[len] == '/');
}

#endif
