/* SPDX-License-Identifier: MIT */
/*
 * Standard input, line by line. That it cannot be read is an error: a list
 * which is cut off must not pass for a shorter one.
 */
#ifndef BUILTIN_STDIN_LINES_H
#define BUILTIN_STDIN_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct stdin_lines {
	char *line; /* the last one read, without its end */
	size_t len; /* of it, which may have zero bytes */
	bool ended; /* it had an end, which the last one may lack */
	int end;    /* what ends a line */
	size_t alloc;
};

#define STDIN_LINES_INIT                                                       \
	{                                                                      \
		.end = '\n'                                                    \
	}

/* 1 with the next line, 0 when there is none, or negative. */
int stdin_lines_next(struct stdin_lines *in, struct error *err);

void stdin_lines_release(struct stdin_lines *in);

#endif
