/* SPDX-License-Identifier: MIT */
/*
 * Reading standard input by lines. A read error is reported, because a
 * truncated list must not be taken for a complete one.
 */
#ifndef BUILTIN_STDIN_LINES_H
#define BUILTIN_STDIN_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct stdin_lines {
	/* the last line, without its end */
	char *line;
	/* length of the line, which may contain NULs */
	size_t len;
	/* the line had an end; the last line of the input may lack one */
	bool ended;
	/* the byte that ends a line */
	int end;
	/* remove a carriage return before a newline that ends a line */
	bool strip_cr;
	size_t alloc;
};

#define STDIN_LINES_INIT                                                       \
	{                                                                      \
		.end = '\n'                                                    \
	}

/*
 * Read the next line. Returns 1, 0 at the end of the input, or a negative error
 * code.
 */
int stdin_lines_next(struct stdin_lines *in, struct error *err);

void stdin_lines_release(struct stdin_lines *in);

#endif
