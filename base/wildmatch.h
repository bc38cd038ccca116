/* SPDX-License-Identifier: MIT */
/*
 * Glob patterns as gitignore(5) describes them: * ? [...] and backslash, and
 * "**" between slashes for any number of directories.
 *
 * The time of a match is at most proportional to a product of three numbers:
 * the length of the pattern, the length of the text, and the number of "**" in
 * the pattern (at least 1). A match allocates no memory.
 */
#ifndef BASE_WILDMATCH_H
#define BASE_WILDMATCH_H

#include <stdbool.h>

enum {
	/*
	 * The text is a path: "*", "?" and brackets do not match a slash. Two
	 * or more asterisks can match slashes if they are a whole component of
	 * the pattern. Before a slash they match zero or more directories; at
	 * the end of the pattern they match everything inside. In other places
	 * they work like one asterisk. Without this flag, "*", "?" and brackets
	 * match a slash too.
	 */
	WILDMATCH_PATHNAME = 1 << 0,
	/* ASCII letters match in either case */
	WILDMATCH_ICASE = 1 << 1,
};

/*
 * Returns whether the pattern matches all of `text`. A pattern that ends inside
 * a bracket or in a backslash matches nothing.
 */
bool wildmatch(const char *pattern, const char *text, unsigned flags);

#endif
