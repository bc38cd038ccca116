/* SPDX-License-Identifier: MIT */
/*
 * Glob patterns as gitignore(5) describes them: * ? [...] and backslash, and
 * "**" between slashes for any number of directories.
 *
 * A match takes time proportional to pattern times text for each "**" that
 * the pattern has; nothing is exponential, nothing is allocated.
 */
#ifndef BASE_WILDMATCH_H
#define BASE_WILDMATCH_H

#include <stdbool.h>

enum {
	/*
	 * The text is a path: "*", "?" and brackets do not match a slash.
	 * What does is two or more asterisks that are a whole component of the
	 * pattern: with a slash after them they are zero or more directories,
	 * at the end they are everything inside. Elsewhere they are one
	 * asterisk. Without this flag all of these match a slash too.
	 */
	WILDMATCH_PATHNAME = 1 << 0,
	/* ASCII letters of either case are equal */
	WILDMATCH_ICASE = 1 << 1,
};

/*
 * Whether all of `text` matches. A pattern that ends within a bracket or in
 * a backslash matches nothing.
 */
bool wildmatch(const char *pattern, const char *text, unsigned flags);

#endif
